/** Sample of the time to the ready line of a host with many running tasks, after a stop and after a kill. */
import { withFolder } from './folder.ts'
import { startHostProcess } from './host-process.ts'
import { createTasks, createTemplates } from './tasks.ts'

export interface HostStartSample {
  readonly createPerSecond: number
  readonly readyMs: number
  /** longest time without an answer during the start, ms */
  readonly loopMax: number
  /** bytes of heap per running task, beyond those of an empty host; after a full collection */
  readonly heapEach: number
  readonly rss: number
}

const FILLERS = 64

export function hostStartSample({ tasks }: { tasks: number }): Promise<HostStartSample> {
  return withFolder(async (folder) => {
    const first = await startHostProcess(folder)
    const lanes = await first.connect(FILLERS)
    const [one] = lanes
    if (one === undefined) throw new Error('at least one connection is required')
    await createTemplates(one)
    const empty = (await first.figures('collect')).heap
    const before = performance.now()
    await createTasks(lanes, tasks)
    const createPerSecond = (tasks * 1_000) / (performance.now() - before)
    await first.stop()
    const second = await startHostProcess(folder)
    const { loopMax, rss } = await second.figures()
    const { heap } = await second.figures('collect')
    await second.stop()
    return { createPerSecond, readyMs: second.readyMs, loopMax, heapEach: (heap - empty) / tasks, rss }
  })
}
