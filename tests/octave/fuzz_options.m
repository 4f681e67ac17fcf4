## -*- texinfo -*-
## @deftypefn {} {[@var{names}, @var{since}] =} fuzz_options (@var{name}, @var{study})
## The names of the options of function @var{name}, a cell array; of the study
## @var{study} where there is one.  What the fuzzer makes calls from, and what it
## predicts errors with.  @var{since} has a number for each: of two names that begin
## alike an abbreviation means the one with the lower number.
## @end deftypefn

function [names, since] = fuzz_options (name, study = "")
  since = [];
  switch (name)
    case "StencilConstantMemory_CUDA"
      names = {"Backend", "Device", "Boundary", "Dim", "Iterations", "Progress", "Shape", "Previous", "Weight", "Source", ...
               "Every", "Distributed"};
      since = [1 1 1 1 1 1 2 3 3 3 3 4];
    case "DerivativeConstantMemory_CUDA"
      names = {"Backend", "Device", "Coefficients", "Boundary", "Dim", "Distributed"};
      since = [1 1 1 1 1 4];
    case "ConvolutionConstantMemory_CUDA"
      names = {"Backend", "Device", "Boundary", "Iterations", "Progress", "Shape", "Previous", "Weight", "Source", ...
               "Every", "Distributed"};
      since = [1 1 1 1 1 2 3 3 3 3 4];
    case "ConstantMemoryStudy_CUDA"
      switch (lower (study))
        case "access"
          names = {"Pattern", "BlockSize", "Sums", "Device"};
        case "readonly"
          names = {"Points", "BlockSize", "Device"};
        case "angles"
          names = {"Threads", "Device"};
        otherwise
          names = {"Size", "Radius", "Device"};
      endswitch
    otherwise
      names = {};
  endswitch
  if (isempty (since))
    since = ones (size (names));
  endif
endfunction
