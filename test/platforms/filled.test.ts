import { describe, expect, it } from 'vitest';
import { parseSize } from '../../src/core/decimal.ts';
import { endedStatus, isFilled } from '../../src/platforms/filled.ts';

const part = (size: string, filled: string, smallest: string) => ({
  size: parseSize(size),
  filled: parseSize(filled),
  smallestSize: parseSize(smallest),
});

describe('an order is filled when less than the smallest size is left', () => {
  it.each([
    ['100', '99.997714', '0.01', true],
    ['10', '10', '0.01', true],
    ['10', '10.000001', '0.01', true],
    ['10', '9.990001', '0.01', true],
    ['10', '9.99', '0.01', false],
    ['10', '7', '0.01', false],
    ['1', '0.999999', '0.000001', false],
    ['1', '1', '0.000001', true],
    ['3', '2', '1', false],
    ['3', '2.5', '1', true],
    ['10', '0', '0.01', false],
    ['0.005', '0', '0.01', false],
  ])('%s with %s filled, smallest size %s: %s', (size, filled, smallest, expected) => {
    expect(isFilled(part(size, filled, smallest))).toBe(expected);
  });

  it('an order that ended with more left is cancelled or expired', () => {
    expect(endedStatus(part('10', '7', '0.01'), 'cancelled')).toBe('cancelled');
    expect(endedStatus(part('10', '7', '0.01'), 'expired')).toBe('expired');
    expect(endedStatus(part('10', '9.995', '0.01'), 'expired')).toBe('filled');
  });
});
