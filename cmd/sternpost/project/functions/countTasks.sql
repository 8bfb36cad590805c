-- Counts the tasks that the caller may see.
create function functions.count_tasks() returns jsonb
language sql
stable
security invoker
as $$
  select jsonb_build_object(
    'open', count(*) filter (where task.state = 'Open'),
    'done', count(*) filter (where task.state = 'Done'),
    'overdue', count(*) filter (where task.state = 'Open' and task.due_on < current_date)
  )
  from app.task;
$$;
