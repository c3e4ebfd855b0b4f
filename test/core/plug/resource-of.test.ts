import { describe, expect, it } from 'vitest'
import { resourceOf } from '../../../src/core/plug/resource-of.ts'

const lookup = (path: readonly string[]) => (path.join('.') === 'variables.pump' ? 'pump-7' : undefined)
const node = (RESOURCE: string | undefined) => ({ NAME: 'n', RESOURCE, TRIGGER: undefined })
const task = (RESOURCE: string | undefined) => ({ TASK_ID: 't', NODE_NAME: 'n', RESOURCE })

describe('the resource of a call', () => {
  it.each([
    ['a', 'b', 'c', 'a'],
    [undefined, 'b', 'c', 'b'],
    [undefined, undefined, 'c', 'c'],
  ])('named %s, of the node %s, of the task %s: %s', (named, ofNode, ofTask, resource) => {
    expect(resourceOf({ properties: { resource: named }, node: node(ofNode), task: task(ofTask), lookup })).toBe(
      resource,
    )
  })

  it.each([
    ['$', 'c'],
    ['$taskId', 't'],
    ['$pump', 'pump-7'],
  ])('named %s is %s', (named, resource) => {
    expect(resourceOf({ properties: { resource: named }, node: node('b'), task: task('c'), lookup })).toBe(resource)
  })

  it('named by a variable without a value is reported as missing', () => {
    const context = { properties: { resource: '$fan' }, node: node('b'), task: task('c'), lookup }
    expect(() => resourceOf(context)).toThrow('set variables.fan to a resource id')
  })

  it('is reported as missing when none is configured', () => {
    const context = { properties: {}, node: node(undefined), task: task(undefined), lookup }
    expect(() => resourceOf(context)).toThrow('the resource is missing')
  })
})
