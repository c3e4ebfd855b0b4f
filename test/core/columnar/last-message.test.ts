/** Which message a row's task has seen last, whatever way the message took. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import { definePlug, VirtualClock, type Rule } from '../../../src/index.ts'

const RULE: Rule = {
  sensors: [{ label: 's', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'a', threshold: 10 } }],
  actuators: [{ label: 'act', name: 'act' }],
  triggers: [{ sourceLabel: 's', destinationLabel: 'act', statesTrigger: ['Below'] }],
}

describe('the last message', () => {
  it('of a task is its own, also when its row has just begun to take messages by itself', async () => {
    const act = definePlug({ name: 'act', version: '1.0.0', kind: 'actuator', execute: () => undefined })
    // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the same that the library does
    const generate = (parameters: readonly string[], body: string) => new Function(...parameters, body) as () => unknown
    const options = { plugs: [...builtins, act], scheduler: new VirtualClock(0), ids: () => 't', seed: 1 }
    for (const more of [{ generate }, {}, { latency: () => 0 }]) {
      const engine = new CoreEngine({ ...options, ...more })
      for (const id of ['t', 'u']) await engine.start(RULE, { id, resource: id })
      for (const a of [20, 21, 22, 23, 24, 25]) {
        for (const resource of ['t', 'u']) engine.receive({ resource, a })
        for (const id of ['t', 'u']) {
          expect(engine.tasks.get(id)?.node('s').rawData).toEqual({ parameter: 'a', threshold: 10, data: a })
        }
      }
      await engine.close()
    }
  })
})
