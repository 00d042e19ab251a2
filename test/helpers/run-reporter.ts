import { readFileSync } from 'node:fs';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const REASON = /\bwaitsInRealTime\('(.+)'\);$/m;

/**
 * Fails a run that skipped a test. Lists the files whose tests may be tried again, with what broke the tries of those that were,
 * and the files that the run leaves out.
 */
export class RunReporter implements Reporter {
  #root = '';
  /** With `-t`, the tests of other names are skipped on purpose. */
  #isFiltered = false;
  readonly #leftOut: readonly string[];

  constructor(leftOut: readonly string[] = []) {
    this.#leftOut = leftOut;
  }

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried: string[] = [];
    const again: string[] = [];
    const skipped: string[] = [];
    for (const module of modules) {
      const file = module.moduleId.replace(`${this.#root}/`, '');
      const tests = [...module.children.allTests()];
      const own = tests.filter(({ options }) => Boolean(options.retry)).length;
      const [, reason = 'without a reason'] = REASON.exec(readFileSync(module.moduleId, 'utf8')) ?? [];
      if (own > 0) retried.push(`${file} (${own} tests): ${reason}`);
      for (const test of tests) {
        const name = `${file} > ${test.fullName}`;
        const { state, errors = [] } = test.result();
        if (state === 'skipped') skipped.push(name);
        if (state === 'passed') again.push(...errors.map(({ message }) => `${name}: ${message}`));
      }
    }
    if (retried.length > 0) console.log(`Tests with their own retry:\n  ${retried.toSorted().join('\n  ')}`);
    if (again.length > 0) console.log(`Tries that failed before one passed:\n  ${again.join('\n  ')}`);
    if (this.#leftOut.length > 0) console.log(`Files left out:\n  ${this.#leftOut.join('\n  ')}`);
    if (skipped.length === 0 || this.#isFiltered) return;
    console.error(`Skipped tests fail the run:\n  ${skipped.join('\n  ')}`);
    process.exitCode = 1;
  }
}
