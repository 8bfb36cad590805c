-- Reminds the patients whose appointment is tomorrow, each once.
create function functions.remind_patients() returns jsonb
language plpgsql
volatile
security invoker
as $$
declare
  v_visit record;
  v_count integer := 0;
begin
  for v_visit in
    select
      appointment.id,
      appointment.starts_at at time zone 'Europe/Berlin' as starts_at,
      patient.name,
      patient.email,
      practice.name as practice
    from app.appointment
    join app.patient on patient.id = appointment.patient_id
    join app.practice on practice.id = patient.practice_id
    where appointment.reminded_at is null
      and (appointment.starts_at at time zone 'Europe/Berlin')::date = (now() at time zone 'Europe/Berlin')::date + 1
  loop
    perform platform.send_mail(v_visit.email, 'appointment', jsonb_build_object(
      'practice', v_visit.practice,
      'name', v_visit.name,
      'day', to_char(v_visit.starts_at, 'FMDD.FMMM.'),
      'time', to_char(v_visit.starts_at, 'HH24:MI')
    ));
    update app.appointment set reminded_at = now() where appointment.id = v_visit.id;
    v_count := v_count + 1;
  end loop;
  return jsonb_build_object('reminded', v_count);
end;
$$;
