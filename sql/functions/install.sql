-- Every function, each after those that it calls if Postgres checks that at creation (language sql). Running this again
-- changes only what differs. If a function is dropped, or its parameters or result change, a migration does that.

{{ template "action.sql" . }}
{{ template "identity_id.sql" . }}
{{ template "token.sql" . }}
{{ template "time_zone.sql" . }}
{{ template "request_id.sql" . }}
{{ template "header.sql" . }}
{{ template "environment.sql" . }}
{{ template "secret.sql" . }}
{{ template "second_factor.sql" . }}
{{ template "signed_in_within.sql" . }}
{{ template "input.sql" . }}
{{ template "session_name.sql" . }}
{{ template "replayed.sql" . }}
{{ template "is_signed_in.sql" . }}
{{ template "is_over.sql" . }}
{{ template "require_newest.sql" . }}
{{ template "refuse_caller.sql" . }}
{{ template "require_caller.sql" . }}
{{ template "enter_request.sql" . }}
{{ template "enter_caller.sql" . }}
{{ template "enter.sql" . }}
{{ template "caller_roles.sql" . }}
{{ template "leave.sql" . }}
{{ template "job.sql" . }}
{{ template "enter_job.sql" . }}

{{ template "refuse.sql" . }}
{{ template "ask_session.sql" . }}
{{ template "refuse_or_miss.sql" . }}
{{ template "refuse_twice.sql" . }}
{{ template "judge_rows.sql" . }}
{{ template "refuse_or_nothing.sql" . }}
{{ template "miss.sql" . }}
{{ template "require_result.sql" . }}
{{ template "require_valid.sql" . }}

{{ template "new_id.sql" . }}
{{ template "iso.sql" . }}
{{ template "iso_array.sql" . }}
{{ template "iso_duration.sql" . }}
{{ template "iso_duration_array.sql" . }}
{{ template "trim_scale.sql" . }}
{{ template "midnight.sql" . }}
{{ template "midnight_array.sql" . }}
{{ template "later.sql" . }}
{{ template "quotient.sql" . }}
{{ template "number.sql" . }}
{{ template "trim.sql" . }}
{{ template "median.sql" . }}
{{ template "mean_duration.sql" . }}
{{ template "relative_period.sql" . }}
{{ template "current_period.sql" . }}
{{ template "fold.sql" . }}
{{ template "known_time_zones.sql" . }}
{{ template "tg_touch.sql" . }}
{{ template "tg_sign_out.sql" . }}
{{ template "tg_number.sql" . }}
{{ template "tg_drop_counters.sql" . }}
{{ template "is_file.sql" . }}
{{ template "is_file_array.sql" . }}
{{ template "longest.sql" . }}
{{ template "shortest.sql" . }}
{{ template "each_matches.sql" . }}

{{ template "enough.sql" . }}
{{ template "order_sql.sql" . }}
{{ template "merged_sql.sql" . }}
{{ template "requested_order.sql" . }}
{{ template "ranges_beyond.sql" . }}
{{ template "pick_page.sql" . }}
{{ template "facet_sql.sql" . }}
{{ template "facets.sql" . }}
{{ template "operator_paths.sql" . }}
{{ template "operators.sql" . }}
{{ template "filter_sql.sql" . }}
{{ template "texts.sql" . }}

{{ template "owners.sql" . }}
{{ template "rules.sql" . }}
{{ template "keep_rules.sql" . }}
{{ template "catalog.sql" . }}
{{ template "drift.sql" . }}
{{ template "keep_catalog.sql" . }}
{{ template "merged.sql" . }}
{{ template "release_digest.sql" . }}
{{ template "announce.sql" . }}
{{ template "lock_tables.sql" . }}
{{ template "cluster.sql" . }}
{{ template "follow_consumers.sql" . }}
{{ template "follow_jobs.sql" . }}
{{ template "install_release.sql" . }}
{{ template "install_release_change.sql" . }}
{{ template "serving_faults.sql" . }}
{{ template "serving_notes.sql" . }}

{{ template "take_turn.sql" . }}
{{ template "share_turn.sql" . }}
{{ template "lock_rows.sql" . }}
{{ template "tg_take_turn.sql" . }}
{{ template "tg_computed.sql" . }}
{{ template "break_rule.sql" . }}

{{ template "network.sql" . }}

{{ template "answer_find.sql" . }}
{{ template "answer_claim.sql" . }}
{{ template "answer_keep.sql" . }}
{{ template "answer_sweep.sql" . }}

{{ template "position_note.sql" . }}
{{ template "position_find.sql" . }}
{{ template "position_sweep.sql" . }}

{{ template "auth_address_hash.sql" . }}
{{ template "auth_wait_for.sql" . }}
{{ template "auth_filled_at.sql" . }}
{{ template "auth_wait.sql" . }}
{{ template "auth_lock.sql" . }}
{{ template "auth_fail.sql" . }}
{{ template "auth_factors.sql" . }}
{{ template "auth_shown.sql" . }}
{{ template "auth_require.sql" . }}
{{ template "auth_raise.sql" . }}
{{ template "auth_start.sql" . }}
{{ template "auth_remember.sql" . }}
{{ template "auth_password.sql" . }}
{{ template "auth_password_accept.sql" . }}
{{ template "auth_password_create.sql" . }}
{{ template "auth_identity.sql" . }}
{{ template "auth_signin_take.sql" . }}
{{ template "auth_signin_forget.sql" . }}
{{ template "auth_signin_finish.sql" . }}
{{ template "auth_signin_redeem.sql" . }}
{{ template "auth_family_id.sql" . }}
{{ template "auth_family_key.sql" . }}
{{ template "auth_refresh.sql" . }}
{{ template "auth_revoke.sql" . }}
{{ template "auth_sweep.sql" . }}

{{ template "task_take.sql" . }}
{{ template "task_done.sql" . }}
{{ template "task_failed.sql" . }}
{{ template "task_later.sql" . }}
{{ template "task_sweep.sql" . }}
{{ template "tg_change.sql" . }}
{{ template "live_read.sql" . }}
{{ template "live_values.sql" . }}
{{ template "live_same.sql" . }}
{{ template "history_cursor.sql" . }}
{{ template "history_page.sql" . }}
{{ template "history_row.sql" . }}
{{ template "history_sweep.sql" . }}

{{ template "job_start.sql" . }}
{{ template "job_run.sql" . }}
{{ template "schedules.sql" . }}
{{ template "schedule_due.sql" . }}
{{ template "job_state.sql" . }}
{{ template "job_find.sql" . }}
{{ template "job_list.sql" . }}
{{ template "job_retry.sql" . }}
{{ template "job_cancel.sql" . }}
{{ template "job_counts.sql" . }}

{{ template "event.sql" . }}
{{ template "event_told.sql" . }}
{{ template "event_run.sql" . }}
{{ template "events_keep.sql" . }}
{{ template "event_task.sql" . }}
{{ template "events_passed.sql" . }}
{{ template "events_is_free.sql" . }}
{{ template "events_read.sql" . }}
{{ template "events_lease.sql" . }}
{{ template "events_settle.sql" . }}
{{ template "events_stop.sql" . }}
{{ template "events_resume.sql" . }}
{{ template "events_state.sql" . }}
{{ template "events_list.sql" . }}
{{ template "events_mend.sql" . }}
{{ template "events_replay.sql" . }}
{{ template "events_anchor.sql" . }}
{{ template "events_run.sql" . }}
{{ template "event_retry.sql" . }}
{{ template "events_waiting.sql" . }}
{{ template "events_give_up.sql" . }}
{{ template "events_tend.sql" . }}
{{ template "mail_allowed.sql" . }}
{{ template "mail_queue.sql" . }}
{{ template "send_mail.sql" . }}
{{ template "mail_list.sql" . }}
{{ template "auth_end.sql" . }}
{{ template "auth_sign_out.sql" . }}
{{ template "auth_sessions.sql" . }}
{{ template "auth_end_session.sql" . }}
{{ template "auth_factor_try.sql" . }}
{{ template "auth_factor_accept.sql" . }}
{{ template "auth_recovery_set.sql" . }}
{{ template "auth_totp_propose.sql" . }}
{{ template "auth_totp_proposed.sql" . }}
{{ template "auth_totp_confirm.sql" . }}
{{ template "auth_passkey_find.sql" . }}
{{ template "auth_passkey_confirm.sql" . }}
{{ template "auth_factor_remove.sql" . }}
{{ template "auth_recovery_renew.sql" . }}
{{ template "auth_factor_list.sql" . }}
{{ template "auth_forget_factors.sql" . }}
{{ template "auth_account.sql" . }}
{{ template "auth_ask_reset.sql" . }}
{{ template "auth_ask_verification.sql" . }}
{{ template "auth_ask_change.sql" . }}
{{ template "auth_is_proof.sql" . }}
{{ template "auth_take_proof.sql" . }}
{{ template "auth_clear.sql" . }}
{{ template "auth_reset.sql" . }}
{{ template "auth_proof_find.sql" . }}
{{ template "auth_verify.sql" . }}
{{ template "auth_disown.sql" . }}
{{ template "invite.sql" . }}
{{ template "auth_invitation.sql" . }}
{{ template "auth_invitation_accept.sql" . }}
{{ template "auth_link_add.sql" . }}
{{ template "auth_link_remove.sql" . }}
{{ template "auth_links.sql" . }}
{{ template "auth_change_password.sql" . }}
{{ template "auth_key_find.sql" . }}
{{ template "auth_key_create.sql" . }}

{{ template "tg_files.sql" . }}
{{ template "file_mint.sql" . }}
{{ template "file_uploads.sql" . }}
{{ template "file_enter.sql" . }}
{{ template "file_attach.sql" . }}
{{ template "file_admit.sql" . }}
{{ template "file_discard.sql" . }}
{{ template "file_due.sql" . }}
{{ template "file_failures_sweep.sql" . }}
{{ template "file_fail.sql" . }}
{{ template "file_forget.sql" . }}
{{ template "file_unheld.sql" . }}
{{ template "file_list.sql" . }}
{{ template "file_miscounted.sql" . }}
{{ template "file_recount.sql" . }}
{{ template "file_uploads_due.sql" . }}
{{ template "file_uploads_forget.sql" . }}
{{ template "file_uploads_list.sql" . }}

{{ template "caller.sql" . }}
{{ template "live_over.sql" . }}

-- The functions above grant to sternpost_caller the rights that any action may need. The other roles of actions need
-- the same.
do $$
begin
  execute (
    select format(
      'grant execute on function %s to %s',
      string_agg(pg_proc.oid::regprocedure::text, ', ' order by pg_proc.oid),
      (
        select string_agg(owner::regrole::text, ', ')
        from unnest(platform.owners()) as owner
        where owner not in ('sternpost_caller'::regrole, 'sternpost_code'::regrole)
      )
    )
    from pg_proc
    cross join aclexplode(pg_proc.proacl) as entry
    where pg_proc.pronamespace = 'platform'::regnamespace
      and entry.grantee = 'sternpost_caller'::regrole
  );
end;
$$;

do $$
begin
  perform platform.keep_rules('platform');
end;
$$;
