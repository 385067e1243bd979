// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_BOXES_H
#define THIMBLE_BOXES_H
/* Boxes of a detector: non-maximum suppression. All in this header; no memory but the result's.
 *
 *   thimble_view boxes, scores;                  // of outputs of the network
 *   thimble_output(&model, 0, &boxes);           // float32 [1, 4, n]: x, y of the center, width,
 * height thimble_output(&model, 1, &scores);          // float32 [1, labels, n] thimble_detections
 * found = {boxes.data, scores.data, boxes.sizes[2], scores.sizes[1], 0.5f, 0.5f}; thimble_box
 * kept[10]; int32_t count = thimble_best_boxes(&found, kept, 10);
 *
 * A network whose output has boxes and scores in one tensor gives them one scale, which is too
 * large for the scores. Return them as two outputs. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct thimble_detections {
  const float* boxes;  /* [4, count]: x and y of the center, width, height */
  const float* scores; /* [labels, count] */
  int32_t count;
  int32_t labels;
  float min_score;
  float max_overlap; /* largest intersection over union of two boxes of one label */
} thimble_detections;

typedef struct thimble_box {
  float x, y, width, height, score;
  int32_t label;
} thimble_box;

/* Returns the intersection over union of two boxes, 0 if both are empty. */
static inline float thimble_box_overlap(const thimble_box* a, const thimble_box* b) {
  const float left =
      a->x - a->width / 2 > b->x - b->width / 2 ? a->x - a->width / 2 : b->x - b->width / 2;
  const float right =
      a->x + a->width / 2 < b->x + b->width / 2 ? a->x + a->width / 2 : b->x + b->width / 2;
  const float top =
      a->y - a->height / 2 > b->y - b->height / 2 ? a->y - a->height / 2 : b->y - b->height / 2;
  const float bottom =
      a->y + a->height / 2 < b->y + b->height / 2 ? a->y + a->height / 2 : b->y + b->height / 2;
  const float both = right > left && bottom > top ? (right - left) * (bottom - top) : 0;
  const float either = a->width * a->height + b->width * b->height - both;
  return either > 0 ? both / either : 0;
}

/* Returns box `i` with its best label, the first one of equals. */
static inline thimble_box thimble_box_at(const thimble_detections* d, int32_t i) {
  thimble_box box;
  int32_t label;
  box.x = d->boxes[i];
  box.y = d->boxes[d->count + i];
  box.width = d->boxes[2 * d->count + i];
  box.height = d->boxes[3 * d->count + i];
  box.score = d->scores[i];
  box.label = 0;
  for (label = 1; label < d->labels; ++label) {
    const float score = d->scores[label * d->count + i];
    if (score > box.score) {
      box.score = score;
      box.label = label;
    }
  }
  return box;
}

/* Writes at most `capacity` boxes to `kept`, best score first, and returns their number. A box is
 * kept if its score is at least min_score and its overlap with each better box of its label that
 * was kept is at most max_overlap. The first one of equal scores is better. Searches all boxes once
 * for each candidate. */
static inline int32_t thimble_best_boxes(const thimble_detections* d, thimble_box* kept,
                                         int32_t capacity) {
  int32_t number = 0, last = -1;
  float last_score = 0;
  while (number < capacity) {
    thimble_box best;
    int32_t at = -1, i;
    for (i = 0; i < d->count; ++i) {
      const thimble_box box = thimble_box_at(d, i);
      const int is_next =
          last < 0 || box.score < last_score || (box.score == last_score && i > last);
      if (box.score >= d->min_score && is_next && (at < 0 || box.score > best.score)) {
        best = box;
        at = i;
      }
    }
    if (at < 0) break;
    last = at;
    last_score = best.score;
    for (i = 0; i < number; ++i) {
      if (kept[i].label == best.label && thimble_box_overlap(&kept[i], &best) > d->max_overlap)
        break;
    }
    if (i == number) kept[number++] = best;
  }
  return number;
}

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_BOXES_H */
