import { describe, expect, it } from 'vitest'
import { parsePath } from '../../../../src/core/language/placeholders/path.ts'
import { readParts, readPath } from '../../../../src/core/language/placeholders/read-path.ts'
import { fakeScope } from './fake-scope.ts'

const scope = fakeScope({
  nodes: { a: { list: [{ t: 4 }], state: 'ON', collectedTime: 9 } },
  stream: { t: 1, gps: { lat: 2 } },
  variables: { v: { w: 3 } },
  secrets: { K: 's' },
  metadata: { m: 5 },
  nodeMetadata: { m: 6 },
  taskResource: 'r',
  nodeResource: 'q',
  loop: [7],
})

describe('reading a path', () => {
  it.each<[string, unknown]>([
    ['streamdata.gps.lat', 2],
    ['nodes.a.rawData.list[0].t', 4],
    ['nodes.a.rawData.state', 'ON'],
    ['nodes.a.state', 'ON'],
    ['nodes.a.collectedTime', 9],
    ['nodes.b.state', undefined],
    ['variables.v.w', 3],
    ['vault.K', 's'],
    ['task.TASK_ID', 'task-1'],
    ['task.RESOURCE', 'r'],
    ['task.NODE_NAME', 'node-1'],
    ['task.resource.meta.m', 5],
    ['node.NAME', 'node-1'],
    ['node.RESOURCE', 'q'],
    ['node.resource.meta.m', 6],
    ['loop[0]', 7],
    ['loop.length', 1],
  ])('%s returns %j, as path and as list', (text, expected) => {
    const parsed = parsePath(text)
    if ('fault' in parsed) throw new Error(parsed.fault.message)
    expect(readPath(parsed.path, scope)).toEqual(expected)
    expect(readParts([parsed.path.root, ...parsed.path.segments], scope)).toEqual(expected)
  })

  it.each([
    [[]],
    [['nope']],
    [['streamdata']],
    [['nodes']],
    [['nodes', 'a']],
    [['nodes', 'a', 'state', 'length']],
    [['nodes', 'a', 'toString']],
    [['vault', 'K', 'x']],
    [['task']],
    [['task', 'RESOURCE', 'length']],
    [['node', 'TASK_ID']],
    [['streamdata', '__proto__']],
    [['nodes', 'constructor', 'rawData']],
    [['variables', 'v', 'hasOwnProperty']],
  ])('the list %j finds nothing', (parts) => {
    expect(readParts(parts, scope)).toBeUndefined()
  })
})
