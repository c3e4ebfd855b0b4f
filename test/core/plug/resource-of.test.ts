import { describe, expect, it } from 'vitest'
import { resourceOf } from '../../../src/core/plug/resource-of.ts'

const node = (RESOURCE: string | undefined) => ({ NAME: 'n', RESOURCE, TRIGGER: undefined })
const task = (RESOURCE: string | undefined) => ({ TASK_ID: 't', NODE_NAME: 'n', RESOURCE })

describe('the resource of a call', () => {
  it.each([
    ['a', 'b', 'c', 'a'],
    [undefined, 'b', 'c', 'b'],
    [undefined, undefined, 'c', 'c'],
  ])('named %s, of the node %s, of the task %s: %s', (named, ofNode, ofTask, resource) => {
    expect(resourceOf({ properties: { resource: named }, node: node(ofNode), task: task(ofTask) })).toBe(resource)
  })

  it('is missed when there is none', () => {
    const context = { properties: {}, node: node(undefined), task: task(undefined) }
    expect(() => resourceOf(context)).toThrow('there is no resource')
  })
})
