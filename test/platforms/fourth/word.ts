import { PLATFORM_NAMES, PLATFORMS } from '../../../src/core/model.ts';

// Its own file, imported first: schemas are made from PLATFORMS when their modules load.
(PLATFORMS as unknown as string[]).push('fourth');
Object.assign(PLATFORM_NAMES, { fourth: 'Fourth' });
