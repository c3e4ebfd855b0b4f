import { describe, expect, it } from 'vitest'
import { planCall } from '../../../../src/services/resources/commands/plan-call.ts'

const actuator = { name: 'valve', version: '1.0.0', properties: { speed: 1, to: '{{ip}}', who: 'default' } }
const PUMP = {
  id: 'p1',
  ip: '10.0.0.7',
  commands: [{ open: { actuator } }, { close: { actuator: { name: 'valve' } } }, { odd: { actuator: {} } }, 'x'],
}

describe('the call of a command', () => {
  it('is that of the mapped actuator, with what the command brings over its properties', () => {
    expect(planCall('p1', PUMP, { name: 'open', timestamp: 5, who: 'me at {{ip}}', more: [1] })).toEqual({
      name: 'valve',
      version: '1.0.0',
      properties: { speed: 1, to: '10.0.0.7', who: 'me at 10.0.0.7', more: [1] },
    })
  })

  it('is of the latest version when none is mapped', () => {
    expect(planCall('p1', PUMP, { name: 'close' })).toEqual({ name: 'valve', version: 'latest', properties: {} })
  })

  it('brings neither name nor time nor resource as properties', () => {
    const call = planCall('p1', PUMP, { name: 'close', timestamp: 5, resource: 'p1' })
    expect(call).toMatchObject({ properties: {} })
  })

  it.each([
    ['the resource is not there', undefined, 'open', "Resource 'p1' not found"],
    ['the command is not there', PUMP, 'explode', "Command 'explode' not found for resource 'p1'"],
    ['a command of a prototype is asked', PUMP, 'constructor', "Command 'constructor' not found for resource 'p1'"],
    ['the resource has no commands', { id: 'p1' }, 'open', "Command 'open' not found for resource 'p1'"],
    ['no actuator is named', PUMP, 'odd', "Command 'odd' of resource 'p1' names no actuator"],
  ])('is not made when %s', (_what, resource, name, errorMessage) => {
    expect(planCall('p1', resource, { name })).toEqual({ errorMessage })
  })
})
