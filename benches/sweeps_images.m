% Many sweeps over images and volumes that live on the device, from Octave's prompt, as lines of CSV: thousand million
% updates a second. And single sweeps, of the sizes of filters that have to be large to pay. A star is a filter that is
% zero beside its middle row and column.
% sweeps_images ()           8192 x 8192 and 512 x 512 x 512, 200 sweeps
% sweeps_images (n, m, count)  n x n, m x m x m and so many sweeps
function sweeps_images (n, m, count)
  if (nargin < 3)
    n = 8192;
    m = 512;
    count = 200;
  end
  addpath (fullfile (fileparts (mfilename ("fullpath")), "..", "matlab"));
  info = ConstantMemoryDevice_CUDA ();
  printf ("# octave %s, %s, driver %s\n", version (), info.Name, info.KernelDriver);
  printf ("what,class,filter,boundary,size,sweeps,updates\n");
  boundaries = {0, "circular", "replicate", "symmetric"};
  for class_of = {"double", "single"}
    x = DeviceArray (cast (rand (n), class_of{1}), "Backend", "cuda");
    for taps = [3 5 7]
      for b = boundaries
        k = cast (ones (taps) / taps^2, class_of{1});
        rate (class_of{1}, x, k, b{1}, count);
      end
    end
    for taps = [3 5 7]
      k = zeros (taps, class_of{1});
      middle = (taps + 1) / 2;
      k(middle,:) = k(:,middle) = 1 / (2 * taps - 1);
      for b = boundaries([1 2])
        rate (class_of{1}, x, k, b{1}, count);
      end
    end
    for sides = [3 5; 5 3; 3 7; 7 3; 5 7; 7 5; 1 7; 7 1]'
      rate (class_of{1}, x, cast (ones (sides') / prod (sides), class_of{1}), 0, count);
    end
    for taps = [7 9 11 13 15]
      rate (class_of{1}, x, cast (ones (taps) / taps^2, class_of{1}), 0, 1);
    end
    clear x
    x = DeviceArray (reshape (cast (rand (m, m^2), class_of{1}), m, m, m), "Backend", "cuda");
    for b = boundaries
      rate (class_of{1}, x, cast (ones (3, 3, 3) / 27, class_of{1}), b{1}, count);
    end
    for taps = [5 7]
      rate (class_of{1}, x, cast (ones (taps, taps, taps) / taps^3, class_of{1}), 0, 1);
    end
    clear x
  end
  for side = [64 256 512 1024 2048 4096]
    x = DeviceArray (rand (side), "Backend", "cuda");
    for taps = [3 5 7]
      rate ("double", x, ones (taps) / taps^2, 0, 2 * count);
    end
    clear x
  end
end

function rate (class_of, x, k, boundary, count)
  seconds = zeros (1, 4);
  for s = 1:numel (seconds)
    t = tic ();
    y = ConvolutionConstantMemory_CUDA (x, k, "Boundary", boundary, "Iterations", count);
    % One element comes back when all is done.
    double (y(1));
    seconds(s) = toc (t);
  end
  if (any (k(:) == 0))
    class_of = ["star " class_of];
  end
  times = @(sizes) strjoin (arrayfun (@(d) sprintf ("%d", d), sizes, "UniformOutput", false), "x");
  what = "sweeps";
  if (count == 1)
    what = "pass";
  end
  printf ("%s,%s,%s,%s,%s,%d,%.4g\n", what, class_of, times (size (k)), num2str (boundary), times (size (x)), count, ...
          numel (x) * count / min (seconds(2:end)) / 1e9);
end
