/** Sample of tasks of a template created over keep-alive connections; each is durable and running before its answer. */
import { performance } from 'node:perf_hooks'
import { drive, sampleOf, type CallsSample } from '../calls.ts'
import { withFolder } from './folder.ts'
import { startHostProcess } from './host-process.ts'
import { createTask, createTasks, createTemplates } from './tasks.ts'

export interface HostCreateRequest {
  readonly connections: number
  readonly measureMs: number
}

export interface HostCreateSample extends CallsSample {
  /** microseconds per task of all threads of the host */
  readonly cpu: number
  readonly busy: number
  readonly loopMax: number
}

const WARM_UP = 3_000

export function hostCreateSample({ connections, measureMs }: HostCreateRequest): Promise<HostCreateSample> {
  return withFolder(async (folder) => {
    const host = await startHostProcess(folder)
    const lanes = await host.connect(connections)
    const [first] = lanes
    if (first === undefined) throw new Error('at least one connection is required')
    await createTemplates(first)
    await createTasks(lanes, WARM_UP)
    await host.figures()
    const until = performance.now() + measureMs
    const calls = await drive(
      lanes,
      () => performance.now() < until,
      (lane, n) => createTask(lane, WARM_UP + n),
    )
    const { busy, loopMax, cpu } = await host.figures()
    await host.stop()
    return { ...sampleOf(calls), cpu: (cpu * 1_000) / calls.times.length, busy, loopMax }
  })
}
