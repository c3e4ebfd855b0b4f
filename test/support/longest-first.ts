/** The order of the test files: those that take long come first, so that no core waits for one of them at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => Number(b.project.config.isolate) - Number(a.project.config.isolate))
  }
}
