import { describe, expect, it } from 'vitest'
import { actuatorCall } from '../../../src/host/wiring/actuator-call.ts'
import { definePlug } from '../../../src/core/plug/define.ts'
import type { Plug } from '../../../src/index.ts'
import { bench } from '../../services/rules/support/bench-of-rules.ts'

const valve = (version: string): Plug =>
  definePlug({
    name: 'valve',
    version,
    kind: 'actuator',
    input: { angle: { type: 'double', mandatory: true } },
    execute: ({ properties, node, id, hops }) => {
      if (properties.angle > 90) throw new Error('it does not turn that far')
      return { message: 'turned', rawData: { resource: node.RESOURCE, id, hops, angle: properties.angle } }
    },
  })
const call = { name: 'valve', version: 'latest', properties: { angle: 45 }, resource: 'p1', hops: 0, id: 'command-1' }

describe('a call of an actuator', () => {
  it('takes the newest version when the latest is requested, and the one that is named otherwise', async () => {
    const rules = await bench({ plugs: [valve('1.0.0'), valve('1.10.0'), valve('1.9.0')] })
    const actuators = actuatorCall('acme', () => rules.service)
    expect(await actuators.run(call)).toMatchObject({ version: '1.10.0', success: true, message: 'turned' })
    expect(await actuators.run({ ...call, version: '1.0.0' })).toMatchObject({ version: '1.0.0' })
    await rules.close()
  })

  it('runs for the resource, reports how many rules led to it, and has ids of its command', async () => {
    const rules = await bench({ plugs: [valve('1.0.0')] })
    const actuators = actuatorCall('acme', () => rules.service)
    for (const hops of [0, 3]) {
      const { rawData } = await actuators.run({ ...call, hops })
      expect(rawData).toMatchObject({ resource: 'p1', hops, angle: 45 })
      expect(rawData).toHaveProperty('id', expect.stringMatching(/^command-1\//))
    }
    await rules.close()
  })

  it('that fails is an outcome, and one that does not exist is reported', async () => {
    const rules = await bench({ plugs: [valve('1.0.0')] })
    const actuators = actuatorCall('acme', () => rules.service)
    const failed = await actuators.run({ ...call, properties: { angle: 91 } })
    expect(failed).toMatchObject({ version: '1.0.0', success: false, message: 'it does not turn that far' })
    const wrong = await actuators.run({ ...call, properties: {} })
    expect([wrong.success, wrong.message]).toEqual([false, expect.stringContaining('angle')])
    await expect(actuators.run({ ...call, name: 'pump' })).rejects.toThrow('Actuator pump not found')
    await expect(actuators.run({ ...call, version: '2.0.0' })).rejects.toThrow('Actuator valve:2.0.0 not found')
    await rules.close()
  })
})
