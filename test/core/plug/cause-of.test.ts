import { describe, expect, it } from 'vitest'
import { causeOf, requireService } from '../../../src/core/plug/cause-of.ts'

const context = {
  task: { TASK_ID: 't', RESOURCE: 'r', NODE_NAME: 'n' },
  node: { NAME: 'n', RESOURCE: 'r', TRIGGER: 'hot' },
  id: 't/1/2/0',
  hops: 2,
}

describe('the cause that a plug passes to a service', () => {
  it('is the call, with one more hop', () => {
    expect(causeOf(context)).toEqual({ task: 't', node: 'n', effect: 't/1/2/0', trigger: 'hot', hops: 3 })
  })

  it('has no trigger when none ran the node', () => {
    expect(causeOf({ ...context, node: { ...context.node, TRIGGER: undefined } })).not.toHaveProperty('trigger')
  })
})

describe('the cause of a call without a position in its id', () => {
  it('reports the missing position', () => {
    expect(causeOf({ ...context, unordered: true })).toMatchObject({ unordered: true })
    expect(causeOf({ ...context, unordered: false })).not.toHaveProperty('unordered')
  })
})

describe('a required service of a plug', () => {
  it('is the injected service', () => {
    expect(requireService('it', 'alarms')).toBe('it')
  })

  it('is reported with a remedy when it is missing', () => {
    expect(() => requireService(undefined, 'alarms')).toThrow('createBuiltins({ services: { alarms } })')
  })
})
