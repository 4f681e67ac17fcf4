## ConstantMemoryStudy_CUDA: its errors, on any machine; and its results, if there is a GPU to measure.

%!shared f, studies, patterns
%! f = "ConstantMemoryStudy_CUDA";
%! studies = {"access", "readonly", "angles", "convolution"};
%! patterns = {"one_access_per_block", "one_access_per_warp", "one_access_per_thread", "pseudo_random"};

%!error id=ConstantMemoryStudy:numberOfInputs ConstantMemoryStudy_CUDA ()
%!error id=ConstantMemoryStudy:numberOfOutputs [a, b] = ConstantMemoryStudy_CUDA ("access");
%!error id=ConstantMemoryStudy:study ConstantMemoryStudy_CUDA ("acces")
%!error id=ConstantMemoryStudy:option ConstantMemoryStudy_CUDA ("access", "Colour", 1)
%!error <Number of Inputs are Wrong> ConstantMemoryStudy_CUDA ()
%!error <Number of Outputs are Wrong> [a, b] = ConstantMemoryStudy_CUDA ("access");

## --- numberOfInputs, numberOfOutputs --------------------------------------------

%!test # none; a name without a value; no text where a name belongs
%! fails (f, "numberOfInputs", {});
%! fails (f, "numberOfInputs", {}, 0);
%! for study = [studies, {"nonsense", 5}]
%!   fails (f, "numberOfInputs", {study{1}, "Device"});
%!   fails (f, "numberOfInputs", {study{1}, "Device", 1, "Colour"});
%!   for name = {5, [], true, {"Device"}, {}, struct(), @sin, ["ab"; "cd"], 1i}
%!     fails (f, "numberOfInputs", {study{1}, name{1}, 1});
%!   endfor
%! endfor

%!test
%! fails (f, "numberOfOutputs", {"access"}, 2);
%! fails (f, "numberOfOutputs", {"nonsense"}, 3);
%! fails (f, "numberOfOutputs", {"access", "Colour", 1}, 2);

## --- study ------------------------------------------------------------------------

%!test # the text says what was got and lists what there is
%! for study = {"", "acces", "access ", "accesses", "read-only", "stencil", 1, [], {"access"}, ...
%!              struct(), @sin, true, ["access"; "angles"], "access"'}
%!   text = fails (f, "study", {study{1}});
%!   for name = studies
%!     assert (! isempty (strfind (text, ["'" name{1} "'"])), "%s is not in: %s", name{1}, text);
%!   endfor
%! endfor
%! assert (! isempty (strfind (fails (f, "study", {"acces"}), "got 'acces'")));
%! assert (! isempty (strfind (fails (f, "study", {5}), "got 1x1 double")));

%!test # before its options are looked at
%! fails (f, "study", {"nonsense", "Colour", 1});
%! fails (f, "study", {1, "Device", 0});

## --- option -------------------------------------------------------------------------

%!test # an option of another study, and none at all: the text lists those of this one
%! options = {{"Pattern", "BlockSize", "Sums", "Device"}, {"Points", "BlockSize", "Device"}, ...
%!            {"Threads", "Device"}, {"Size", "Radius", "Device"}};
%! all_names = unique ([options{:}]);
%! for i = 1:numel (studies)
%!   for name = [setdiff(all_names, options{i}), {"Backend", "Colour", "Devices"}]
%!     text = fails (f, "option", {studies{i}, name{1}, 1});
%!     assert (! isempty (strfind (text, ["'" strjoin(options{i}, "', '") "'"])), text);
%!   endfor
%! endfor

%!test # an empty name is the start of every name
%! fails (f, {"numberOfInputs", "option"}, {"access", "", 1});

%!test # whole numbers, in their range
%! whole = {"access", "Sums", 2^28; "readonly", "Points", 2^28; "angles", "Threads", 2^28; ...
%!          "convolution", "Size", 2^14; "convolution", "Radius", 7};
%! for i = 1:rows (whole)
%!   [study, name, most] = whole{i,:};
%!   for value = {0, -1, 1.5, NaN, Inf, -Inf, most + 1, 1e300, [], [1 2], "1", {1}, 1i, sparse(1), struct(), @sin}
%!     text = fails (f, "option", {study, name, value{1}});
%!     assert (! isempty (strfind (text, sprintf ("from 1 to %d", most))), text);
%!   endfor
%! endfor

%!test # blocks of whole warps
%! for study = {"access", "readonly"}
%!   for value = {0, 1, 31, 33, 48, 1056, 2048, -32, 32.5, NaN, Inf, [], "32", [32 64], {32}}
%!     text = fails (f, "option", {study{1}, "BlockSize", value{1}});
%!     assert (! isempty (strfind (text, "a multiple of 32 from 32 to 1024")), text);
%!   endfor
%! endfor

%!test # patterns by the document's names, all of them listed
%! for value = {"", "random", "one_access_per", "one_access_per_grid", 1, [], {"pseudo_random"}, true}
%!   text = fails (f, "option", {"access", "Pattern", value{1}});
%!   for name = patterns
%!     assert (! isempty (strfind (text, ["'" name{1} "'"])), "%s is not in: %s", name{1}, text);
%!   endfor
%! endfor

%!test # devices count from 1
%! for study = studies
%!   for value = {0, -1, 1.5, NaN, Inf, [], "1", [1 1]}
%!     fails (f, "option", {study{1}, "Device", value{1}});
%!   endfor
%! endfor

## --- noDevice -----------------------------------------------------------------------

%!testif ; ! has_gpu ()  # a machine without a GPU
%! for study = [studies, upper(studies)]
%!   fails (f, "noDevice", {study{1}});
%!   fails (f, "noDevice", {study{1}, "Device", 1});
%!   fails (f, "noDevice", {study{1}}, 0);
%! endfor
%! ## The last of the checks: everything else about these is right.
%! for pattern = [patterns, upper(patterns)]
%!   fails (f, "noDevice", {"access", "Pattern", pattern{1}});
%! endfor
%! fails (f, "noDevice", {"access", "pat", "pseudo_random", "BLOCK", int32(32), "s", single(1), "d", true});
%! fails (f, "noDevice", {"access", "BlockSize", 1024, "Sums", 2^28});
%! fails (f, "noDevice", {"readonly", "p", 1, "b", 96, "d", 1});
%! fails (f, "noDevice", {"angles", "t", 2^28});
%! fails (f, "noDevice", {"convolution", "s", 16384, "r", 7});

%!test # nor where the driver shows none; a backend that was chosen makes no difference
%! for backend = {"auto", "cpu", "cuda"}
%!   [status, out] = run_octave ({
%!     "try, ConstantMemoryStudy_CUDA ('angles', 'Threads', 1);"
%!     "catch e, printf ('<%s>\\n', e.identifier); end"}, {["STENCIL_BACKEND=" backend{1}], "CUDA_VISIBLE_DEVICES=-1"});
%!   assert (! isempty (strfind (out, "<ConstantMemoryStudy:noDevice>")), out);
%! endfor

## --- Results, small -------------------------------------------------------------------

%!function sound (r, study, kernels, elements)
%!  names = {"Study"; "Kernel"; "Pattern"; "BlockSize"; "Elements"; "MedianMs"; "LowerQuartileMs"; ...
%!           "UpperQuartileMs"; "BatchMeanMs"; "GBPerSecond"; "OperationsPerByte"; "Samples"; "Checked"};
%!  assert (fieldnames (r), names);
%!  assert (size (r), [numel(kernels), 1]);
%!  assert ({r.Kernel}, kernels);
%!  for row = r'
%!    assert (row.Study, study);
%!    assert (row.Elements, elements);
%!    assert (row.Checked, elements);
%!    assert (size (row.Samples), [1 20]);
%!    assert (isa (row.Samples, "double") && all (isfinite (row.Samples)) && all (row.Samples > 0));
%!    assert (row.MedianMs, median (row.Samples), eps (row.MedianMs));
%!    sorted = sort (row.Samples);
%!    assert (row.LowerQuartileMs, median (sorted(1:10)), eps (row.MedianMs));
%!    assert (row.UpperQuartileMs, median (sorted(11:20)), eps (row.UpperQuartileMs));
%!    assert (isfinite (row.BatchMeanMs) && row.BatchMeanMs > 0);
%!    assert (row.GBPerSecond, 8 * elements / row.MedianMs / 1e6, -1e-12);
%!    assert (row.BlockSize >= 32 && row.BlockSize <= 1024);
%!    assert (isnan (row.OperationsPerByte), ! strcmp (study, "convolution"));
%!  endfor
%!endfunction

%!testif ; has_gpu ()  # needs a GPU
%! sums = {100001, 601}{1 + on_stand_in ()};
%! for pattern = patterns
%!   for block = [32 1024]
%!     if (! takes ("access", pattern, block))
%!       continue
%!     endif
%!     r = ConstantMemoryStudy_CUDA ("access", "Pattern", pattern{1}, "BlockSize", block, "Sums", sums);
%!     sound (r, "access", {"constant", "global"}, sums);
%!     assert ({r.Pattern}, {pattern{1}, pattern{1}});
%!     assert ([r.BlockSize], [block block]);
%!   endfor
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! r = ConstantMemoryStudy_CUDA ("Access", "Sums", 1);
%! sound (r, "access", repmat ({"constant", "global"}, 1, 4), 1);
%! assert ({r(1:2:end).Pattern}, patterns);

%!testif ; has_gpu ()  # needs a GPU
%! for points = {[1 7 1000 65536], [1 300]}{1 + on_stand_in ()}
%!   r = ConstantMemoryStudy_CUDA ("readonly", "Points", points);
%!   sound (r, "readonly", repmat ({"constant", "readonly", "argument"}, 1, 6), points);
%!   assert ([r(1:3:end).BlockSize], 2 .^ (5:10));
%!   assert (all (cellfun (@isempty, {r.Pattern})));
%! endfor
%! sound (ConstantMemoryStudy_CUDA ("readonly", "Points", 1500, "BlockSize", 96), "readonly", ...
%!        {"constant", "readonly", "argument"}, 1500);

%!testif ; has_gpu ()  # needs a GPU
%! for threads = {[1 63 3200 100000], [1 63 500]}{1 + on_stand_in ()}
%!   r = ConstantMemoryStudy_CUDA ("angles", "Threads", threads);
%!   sound (r, "angles", {"constant", "global"}, threads);
%!   assert ([r.BlockSize], [64 64]);
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! side = {45, 17}{1 + on_stand_in ()};
%! for radius = {1:7, [1 4 7]}{1 + on_stand_in ()}
%!   r = ConstantMemoryStudy_CUDA ("convolution", "Size", side, "Radius", radius);
%!   sound (r, "convolution", {"basic", "constant", "tiled"}, side^2);
%!   assert ([r(1:2).OperationsPerByte], [0.25 0.5]);
%!   assert (r(3).OperationsPerByte > 0.5);
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## Results of all studies stand in one array, and a call at the prompt returns one.
%! r = [ConstantMemoryStudy_CUDA("access", "Sums", 200); ConstantMemoryStudy_CUDA("angles", "Threads", 200)];
%! assert (size (r), [10 1]);
%! ConstantMemoryStudy_CUDA ("angles", "Threads", 1, "Device", 1);
%! sound (ans, "angles", {"constant", "global"}, 1);

%!testif ; has_gpu ()  # needs a GPU
%! count = ConstantMemoryDevice_CUDA ().DeviceCount;
%! fails (f, "noDevice", {"access", "Sums", 1, "Device", count + 1});

## --- The demo -------------------------------------------------------------------------

%!test # without a GPU: one line, no error, nothing written
%! folder = tempname ();
%! [status, out] = run_octave ({
%!   sprintf("r = ConstantMemoryStudy_Demo ('%s');", folder)
%!   "printf ('<%d>\\n', isempty (r));"}, {"CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! lines = strsplit (strtrim (out), "\n");
%! assert (! isempty (strfind (lines{1}, "needs a GPU")), out);
%! assert (lines{2}, "<1>", out);
%! assert (exist (fullfile (folder, "study_demo.png"), "file"), 0);
%! assert (exist (fullfile (folder, "study_demo.csv"), "file"), 0);
%! if (exist (folder, "dir"))
%!   rmdir (folder);
%! endif

%!function r = made_up (patterns)
%!  ## No measurements: numbers to be written, read and drawn.
%!  r = [];
%!  for elements = [2000000 2000]
%!    for p = 1:numel (patterns)
%!      for kernel = {"constant", "global"}
%!        ms = elements * p / 3e6;
%!        r(end+1,1).Study = "access";
%!        r(end).Kernel = kernel{1};
%!        r(end).Pattern = patterns{p};
%!        r(end).BlockSize = 64;
%!        r(end).Elements = elements;
%!        r(end).MedianMs = ms;
%!        r(end).LowerQuartileMs = ms;
%!        r(end).UpperQuartileMs = ms;
%!        r(end).BatchMeanMs = ms;
%!        r(end).GBPerSecond = 1 / ms;
%!        r(end).OperationsPerByte = NaN;
%!        r(end).Samples = ms * (1:20) / 7;
%!        r(end).Checked = elements;
%!      endfor
%!    endfor
%!  endfor
%!endfunction

%!test # results are drawn, written, and read again as they were; no GPU is asked
%! folder = tempname ();
%! ## Without gnuplot there is a warning, and no picture.
%! warning ("off", "ConstantMemoryStudy_Demo:noPicture", "local");
%! unwind_protect
%!   wanted = made_up (patterns);
%!   out = evalc ("got = ConstantMemoryStudy_Demo (folder, wanted);");
%!   assert (got, wanted);
%!   assert (! isempty (strfind (out, "pseudo_random")));
%!   file = fullfile (folder, "study_demo.csv");
%!   before = fileread (file);
%!   evalc ("again = ConstantMemoryStudy_Demo (folder, file);");
%!   assert (again, wanted);
%!   assert (fileread (file), before);
%! unwind_protect_cleanup
%!   confirm_recursive_rmdir (false, "local");
%!   rmdir (folder, "s");
%! end_unwind_protect

%!error id=ConstantMemoryStudy_Demo:results ConstantMemoryStudy_Demo ("", 5)
%!error id=ConstantMemoryStudy_Demo:results ConstantMemoryStudy_Demo ("", struct ("Study", "access"))
%!error id=ConstantMemoryStudy_Demo:results ConstantMemoryStudy_Demo ("", "no_such_file.csv")
%!error id=ConstantMemoryStudy_Demo:results ConstantMemoryStudy_Demo ("", which ("fails"))
