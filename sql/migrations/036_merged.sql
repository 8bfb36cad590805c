-- Migrations say what differs in a release by merge patches, no longer by pieces of text.
drop function if exists platform.install_release_change(text, text, text, text[], text[]);
drop function if exists platform.spliced(text, text[]);
