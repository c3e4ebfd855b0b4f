/** One sample: tasks of a template, created over kept connections; each is on the disk and runs before it is answered. */
import { performance } from 'node:perf_hooks'
import { withFolder } from './folder.ts'
import { startHostProcess } from './host-process.ts'
import { createTask, createTasks, createTemplates, drive, spreadOf, type Spread } from './tasks.ts'

export interface HostCreateSample extends Spread {
  readonly perSecond: number
  /** of all threads of the host, for each task, microseconds */
  readonly cpu: number
  /** of the host's main thread */
  readonly busy: number
  readonly loopMax: number
}

const WARM_UP = 3_000

export function hostCreateSample(connections: number, measureMs: number): Promise<HostCreateSample> {
  return withFolder(async (folder) => {
    const host = await startHostProcess(folder)
    const lanes = await host.connect(connections)
    const [first] = lanes
    if (first === undefined) throw new Error('there has to be a connection')
    await createTemplates(first)
    await createTasks(lanes, WARM_UP)
    await host.figures()
    const until = performance.now() + measureMs
    const { times, wallMs } = await drive(
      lanes,
      () => performance.now() < until,
      (lane, n) => createTask(lane, WARM_UP + n),
    )
    const { busy, loopMax, cpu } = await host.figures()
    await host.stop()
    return {
      perSecond: (times.length * 1_000) / wallMs,
      ...spreadOf(times),
      cpu: (cpu * 1_000) / times.length,
      busy,
      loopMax,
    }
  })
}
