import { readFileSync } from 'node:fs';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

const REASON = /^waitsInRealTime\('(.+)'\);$/m;

/** Fails a run that skipped a test, and lists the files whose tests may be tried again. */
export class RunReporter implements Reporter {
  #root = '';
  /** With `-t`, the tests of other names are skipped on purpose. */
  #isFiltered = false;

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried: string[] = [];
    const skipped: string[] = [];
    for (const module of modules) {
      const file = module.moduleId.replace(`${this.#root}/`, '');
      const tests = [...module.children.allTests()];
      const own = tests.filter(({ options }) => Boolean(options.retry)).length;
      const [, reason = 'without a reason'] = REASON.exec(readFileSync(module.moduleId, 'utf8')) ?? [];
      if (own > 0) retried.push(`${file} (${own} tests): ${reason}`);
      for (const test of tests) if (test.result().state === 'skipped') skipped.push(`${file} > ${test.fullName}`);
    }
    if (retried.length > 0) console.log(`Tests with their own retry:\n  ${retried.toSorted().join('\n  ')}`);
    if (skipped.length === 0 || this.#isFiltered) return;
    console.error(`Skipped tests fail the run:\n  ${skipped.join('\n  ')}`);
    process.exitCode = 1;
  }
}
