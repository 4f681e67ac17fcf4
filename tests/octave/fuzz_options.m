## -*- texinfo -*-
## @deftypefn {} {@var{names} =} fuzz_options (@var{name}, @var{study})
## The names of the options of function @var{name}, a cell array; of the study
## @var{study} where there is one.  What the fuzzer makes calls from, and what it
## predicts errors with.
## @end deftypefn

function names = fuzz_options (name, study = "")
  switch (name)
    case "StencilConstantMemory_CUDA"
      names = {"Backend", "Device", "Boundary", "Dim", "Iterations", "Shape", "Progress"};
    case "DerivativeConstantMemory_CUDA"
      names = {"Backend", "Device", "Coefficients", "Boundary", "Dim"};
    case "ConvolutionConstantMemory_CUDA"
      names = {"Backend", "Device", "Boundary", "Iterations", "Shape", "Progress"};
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
endfunction
