import { twoBuckets } from '../../../../src/platforms/http/limit-group.ts';

export const fourthLimits = { 'fourth:all': twoBuckets('fourth:all', 1, [50, 25], [50, 25]) };
