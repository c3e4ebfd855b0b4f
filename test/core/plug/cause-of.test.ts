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

describe('the cause of a call whose id does not state what it comes after', () => {
  it('reports that', () => {
    expect(causeOf({ ...context, unordered: true })).toMatchObject({ unordered: true })
    expect(causeOf({ ...context, unordered: false })).not.toHaveProperty('unordered')
  })
})

describe('a service that a plug needs', () => {
  it('is the injected service', () => {
    expect(requireService('it', 'alarms')).toBe('it')
  })

  it('fails with what to do when there is none', () => {
    expect(() => requireService(undefined, 'alarms')).toThrow('createBuiltins({ services: { alarms } })')
  })
})
