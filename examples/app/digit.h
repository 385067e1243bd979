// SPDX-License-Identifier: Apache-2.0
/* The first test digit of models/digits_cnn: 8 x 8 gray values from -1 to 1. */
static const float digit[64] = {
    -1.0f,  -1.0f,   -0.875f, 0.25f,   0.875f, -0.75f,  -1.0f,   -1.0f,  -1.0f,   -1.0f,   -0.125f,
    1.0f,   -0.125f, -0.625f, -0.375f, -1.0f,  -1.0f,   -0.625f, 1.0f,   -0.125f, -0.625f, 1.0f,
    0.375f, -1.0f,   -1.0f,   0.125f,  0.75f,  -0.875f, 0.25f,   0.75f,  -0.75f,  -1.0f,   -1.0f,
    0.375f, 1.0f,    1.0f,    1.0f,    0.25f,  -1.0f,   -1.0f,   -1.0f,  -0.75f,  -0.5f,   0.0f,
    1.0f,   -0.625f, -1.0f,   -1.0f,   -1.0f,  -1.0f,   -1.0f,   0.125f, 0.625f,  -1.0f,   -1.0f,
    -1.0f,  -1.0f,   -1.0f,   -1.0f,   0.5f,   0.125f,  -1.0f,   -1.0f,  -1.0f};
