/** Orders the test files so that slow ones come first, and no core waits for one at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders whose files take seconds, because they start hosts and processes, or try many cases. */
const LONG = /\/test\/(?:simulator|properties|cli|host|platform|testing|bench|storage)\//

const rank = ({ project, moduleId }: TestSpecification): number =>
  Number(project.config.isolate) * 2 + Number(LONG.test(moduleId))

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => rank(b) - rank(a))
  }
}
