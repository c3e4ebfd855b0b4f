/** One task in an engine on the machine's clock. */
import { createEngine } from '../../../src/index.ts'
import type { Plug } from '../../../src/plug.ts'
import { messageOf, RULE } from './evaluations.ts'
import type { Post } from './subject.ts'

const RESOURCE = 'boiler-0'

export async function inLibrary<Result>(
  plugs: readonly Plug[],
  work: (post: Post) => Promise<Result>,
): Promise<Result> {
  const engine = createEngine({ plugs, why: false })
  try {
    await engine.start(RULE, { resource: RESOURCE })
    return await work((n) => void engine.receive({ resource: RESOURCE, ...messageOf(n) }))
  } finally {
    await engine.close()
  }
}
