% Images: a filter over rows and columns, of any class that images have. The class that goes in comes out.

[x, y] = meshgrid (-31:32);
image = uint8 (200 * (x .^ 2 + y .^ 2 < 20 ^ 2));   % a disc

sobel = [-1 0 1; -2 0 2; -1 0 1];
across = ConvolutionConstantMemory_CUDA (double (image), sobel, 'replicate', 'Backend', 'cpu');
down = ConvolutionConstantMemory_CUDA (double (image), sobel', 'replicate', 'Backend', 'cpu');
edges = hypot (across, down) > 400;
printf ('%d of %d pixels are on the edge of the disc\n', nnz (edges), numel (edges));
assert (! edges(32,32) && any (edges(32,:)));

blurred = ConvolutionConstantMemory_CUDA (image, ones (5) / 25, 'symmetric', 'Backend', 'cpu');
printf ('blurred, it is still %s, with values from %d to %d\n', class (blurred), min (blurred(:)), max (blurred(:)));
assert (class (blurred), 'uint8');

% conv2 turns its filter round: so does 'conv'. Shapes are conv2's.
full = ConvolutionConstantMemory_CUDA (double (image), sobel, 'conv', 'full', 'Backend', 'cpu');
assert (full, conv2 (double (image), sobel), 1e-12);
