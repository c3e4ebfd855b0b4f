/** One sample: a batch operation that stops many tasks, and how long it keeps the host from everything else. */
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { withFolder } from './folder.ts'
import { startHostProcess } from './host-process.ts'
import { createTasks, createTemplates } from './tasks.ts'

export interface HostBatchSample {
  readonly wallMs: number
  readonly loopP99: number
  readonly loopMax: number
  /** of which a pause of the collector may be the most */
  readonly gcMax: number
}

const FILLERS = 64
const PATIENCE_MS = 120_000

export function hostBatchSample(tasks: number): Promise<HostBatchSample> {
  return withFolder(async (folder) => {
    const host = await startHostProcess(folder)
    const lanes = await host.connect(FILLERS)
    const [one] = lanes
    if (one === undefined) throw new Error('there has to be a connection')
    await createTemplates(one)
    await createTasks(lanes, tasks)
    await host.figures('collect')
    await host.figures()
    const started = performance.now()
    const request = JSON.stringify({ entity: 'task', action: 'stop', query: { status: 'running' } })
    const { uri } = JSON.parse(await one.expect(202, 'POST', '/api/batch', request)) as { uri: string }
    for (;;) {
      const status = JSON.parse(await one.expect(200, 'GET', uri)) as { finishedTime?: number }
      if (status.finishedTime !== undefined) break
      if (performance.now() - started > PATIENCE_MS) throw new Error(`the batch operation ${uri} does not end`)
      await setTimeout(50)
    }
    const wallMs = performance.now() - started
    const { loopP99, loopMax, gcMax } = await host.figures()
    await host.stop()
    return { wallMs, loopP99, loopMax, gcMax }
  })
}
