## -*- texinfo -*-
## @deftypefn {} {[@var{status}, @var{out}] =} typed (@var{code})
## Types lines, a cell array of char rows, at the prompt of a fresh Octave, where no error or interrupt ends it.  The
## results are those of @code{run_octave}.
## @end deftypefn

function [status, out] = typed (code)
  file = tempname ();
  fid = fopen (file, "w");
  folders = {fileparts(mfilename ("fullpath")), fileparts(file_in_loadpath ("StencilConstantMemory_CUDA.mex"))};
  fprintf (fid, "addpath ('%s');\n", strrep (folders, "'", "''"){:});
  fprintf (fid, "%s\n", code{:});
  fclose (fid);
  [status, out] = system ([getenv("STENCIL_TEST_OCTAVE") " --norc --quiet --interactive --no-line-editing " ...
                           "--no-history < " file " 2>&1"]);
  delete (file);
endfunction
