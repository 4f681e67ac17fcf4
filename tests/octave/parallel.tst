## Pieces that do not depend on each other, through Octave's package parallel: the recipe of docs/reference.md.

%!testif ; has_parallel ()  # needs Octave's package parallel
%! ## In a process that has not used a GPU: the workers are forked from it.
%! code = {
%!   "pkg load parallel"
%!   "setenv ('STENCIL_THREADS', '1');"
%!   "pieces = arrayfun (@(i) sin ((1:1000 * i)' / (3 + i)), 1:7, 'UniformOutput', false);"
%!   "smooth = @(x) StencilConstantMemory_CUDA (x, [1 2 1] / 4, 'Iterations', 1000, 'Backend', 'cpu');"
%!   "results = parcellfun (4, smooth, pieces, 'UniformOutput', false, 'VerboseLevel', 0);"
%!   "printf ('<%d of %d>\\n', sum (cellfun (@isequal, results, cellfun (smooth, pieces, 'UniformOutput', false))), numel (results));"
%!   "## What is wrong in a worker is an error here."
%!   "wrong = @(x) StencilConstantMemory_CUDA (x, [], 'Backend', 'cpu');"
%!   "try, parcellfun (2, wrong, pieces(1:2), 'UniformOutput', false, 'VerboseLevel', 0); catch, disp ('<raised>'); end"
%!   "again = parcellfun (2, smooth, pieces(1:2), 'UniformOutput', false, 'VerboseLevel', 0);"
%!   "printf ('<%d again>\\n', isequal (again, results(1:2)));"};
%! [status, out] = run_octave (code);
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "<7 of 7>")), "%s", out);
%! assert (! isempty (strfind (out, "<raised>")) && ! isempty (strfind (out, "<1 again>")), "%s", out);
