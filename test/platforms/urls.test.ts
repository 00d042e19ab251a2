import { expect, test } from 'vitest';
import { PLATFORMS } from '../../src/core/model.ts';
import { settings } from '../../src/core/settings.ts';
import { MANIFESTS } from '../../src/platforms/manifests.ts';

test.each(PLATFORMS)(
  'the manifest of %s lists every setting with an address of the platform, and no other',
  (platform) => {
    const ofPlatform = new RegExp(`^${platform.toUpperCase()}_\\w+_URL$`);
    const named = Object.keys(settings).filter((name) => ofPlatform.test(name));
    expect(MANIFESTS[platform].urls.toSorted()).toEqual(named.toSorted());
  },
);
