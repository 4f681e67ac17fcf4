## -*- texinfo -*-
## @deftypefn {} {[@var{status}, @var{out}] =} session (@var{code}, @var{start})
## Runs @var{code} (a char row, or a cell array of lines) in a fresh process of the Octave under test, where packages
## are installed below the folder @code{installed ()}, with @var{start} in front of its command.  @var{out} is all it
## printed; @var{status} is its exit status.
## @end deftypefn

function [status, out] = session (code, start = "")
  folder = installed ();
  file = fullfile (folder, "session.m");
  fid = fopen (file, "w");
  fprintf (fid, "pkg prefix '%s' '%s';\n", folder, folder);
  ## pkg keeps different lists for root's packages and for other users'.
  fprintf (fid, "pkg local_list '%s';\n", fullfile (folder, "local"));
  fprintf (fid, "pkg global_list '%s';\n", fullfile (folder, "global"));
  fprintf (fid, "%s\n", cellstr (code){:});
  fclose (fid);
  ## In that folder: pkg test leaves a log where it runs.
  command = sprintf ("cd '%s' && %s%s --norc --quiet %s 2>&1", folder, start, getenv ("STENCIL_TEST_OCTAVE"), file);
  [status, out] = system (command);
endfunction
