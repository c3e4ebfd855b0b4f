/** Tests a tenant's plug across a crash: its results are in the log, and replaying them starts no process. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionPlug } from '../../src/host/wiring/function-plugs.ts'
import { machineTimers } from '../../src/platform/timers.ts'
import { inspectMachine } from '../../src/platform/sandbox/inspect-machine.ts'
import { DEFAULT_LIMITS } from '../../src/platform/sandbox/limits.ts'
import { ProcessPool } from '../../src/platform/sandbox/process-pool.ts'
import type { DeployedPlug } from '../../src/services/functions/contract.ts'
import { RUNTIMES } from '../../src/services/functions/runtimes/catalog.ts'
import { Ground, runnableOf } from '../services/rules/durable/support/lives.ts'
import { testFolder } from '../support/test-folder.ts'

const deployed: DeployedPlug = {
  name: 'dice',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Low', 'High'],
  input: [{ name: 'value', dataType: 'double' }],
  output: [{ name: 'thrown', dataType: 'double' }],
}
/** Each call returns a different result. */
const CODE = `import { definePlug } from 'reflexarc'
let calls = 0
export default definePlug({ name: 'dice', version: '1.0.0', kind: 'sensor', states: ['Low', 'High'],
  input: { value: { type: 'double' } },
  execute: async ({ properties }) => ({ state: properties.value > 2 ? 'High' : 'Low', rawData: { thrown: Math.random(), call: ++calls } }) })`

const folder = testFolder()
const main = join(folder, 'program', 'index.js')
let pool: ProcessPool
beforeAll(async () => {
  const emptyFolder = join(folder, 'empty')
  for (const path of [emptyFolder, join(folder, 'program')]) mkdirSync(path)
  writeFileSync(main, CODE)
  writeFileSync(join(folder, 'program', 'package.json'), '{ "type": "module" }')
  const machine = await inspectMachine({ confinement: 'confined', emptyFolder, environment: process.env })
  pool = new ProcessPool({
    machine,
    emptyFolder,
    limits: DEFAULT_LIMITS,
    processes: 2,
    perProgram: 1,
    idleMs: 60_000,
    later: machineTimers.later,
    clock: () => performance.now(),
    answer: () => Promise.reject(new Error('nothing is asked')),
    log: () => undefined,
  })
})
afterAll(async () => {
  await pool.close()
})

const { module = '', readable = [] } = RUNTIMES.get('plug-node24')?.harness ?? {}

describe('a plug in a process of its own', () => {
  it('is not called during replay, and shows its previous result', async () => {
    let calls = 0
    const call = (_name: string, _version: string, params: unknown): Promise<unknown> => {
      calls++
      const own = { key: 'dice', owner: 'acme', language: 'node', module, argument: { module: main } } as const
      return pool.call({ ...own, readable: [...readable, join(folder, 'program')] }, 'execute', params)
    }
    const plugs = [functionPlug(deployed, () => ({ call }))]
    const task = runnableOf(
      'watch',
      {
        sensors: [
          { label: 'd', name: 'dice', version: '1.0.0', resource: '$', properties: { value: '${streamdata.value}' } },
        ],
        task: { type: 'reactive' },
      },
      { resource: 'boiler' },
    )
    const ground = new Ground()
    // only inputs are stored, so that everything is replayed
    const options = { plugs, checkpointMs: 1e9 }
    const first = ground.open(options)
    await first.begin(task)
    for (const value of [1, 2, 3]) await first.send('boiler', { value })
    // the process answers asynchronously
    await expect.poll(() => first.runner.nodes.view('watch', 'd')[0]).toMatchObject({ rawData: { call: 3 } })
    await first.rest()
    const shown = first.runner.nodes.view('watch', 'd')
    expect(calls).toBe(3)
    await first.crash()

    const second = ground.open(options)
    await second.runner.resume([task])
    expect(second.runner.nodes.view('watch', 'd')).toEqual(shown)
    expect(calls).toBe(3)
    await second.send('boiler', { value: 0 })
    await expect.poll(() => second.runner.nodes.view('watch', 'd')[0]).toMatchObject({ rawData: { call: 4 } })
    expect(calls).toBe(4)
    await second.crash()
  })
})
