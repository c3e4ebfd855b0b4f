import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePath, printPath } from '../../../../src/core/language/placeholders/path.ts'
import type { Path } from '../../../../src/core/language/placeholders/scope.ts'
import { FORBIDDEN_KEYS } from '../../../../src/kernel/json.ts'

const segment = fc
  .oneof(fc.string(), fc.string({ unit: fc.constantFrom('a', '.', '"', "'", '\\', ']', '[', ' ', '}', '0', '-') }))
  .filter((text) => !FORBIDDEN_KEYS.has(text))

describe('a path', () => {
  it.each<[string, string, string[]]>([
    ['streamdata.temperature', 'streamdata', ['temperature']],
    ['streamdata.gps.lat', 'streamdata', ['gps', 'lat']],
    ['nodes.a.state', 'nodes', ['a', 'state']],
    ['nodes.a.collectedTime', 'nodes', ['a', 'collectedTime']],
    ['nodes.a.rawData', 'nodes', ['a', 'rawData']],
    ['nodes.a.rawData.items[0].t', 'nodes', ['a', 'rawData', 'items', '0', 't']],
    ['nodes.a.rawData.items.0.t', 'nodes', ['a', 'rawData', 'items', '0', 't']],
    ['nodes["my node"].rawData', 'nodes', ['my node', 'rawData']],
    [`nodes['a.b'].rawData["x]"][2]`, 'nodes', ['a.b', 'rawData', 'x]', '2']],
    ['nodes["say \\"x\\""].state', 'nodes', ['say "x"', 'state']],
    ['task.TASK_ID', 'task', ['TASK_ID']],
    ['task.resource.meta.location.city', 'task', ['resource', 'meta', 'location', 'city']],
    ['node.NAME', 'node', ['NAME']],
    ['variables.limit-1', 'variables', ['limit-1']],
    ['vault.KEY', 'vault', ['KEY']],
    ['loop', 'loop', []],
    ['loop.id', 'loop', ['id']],
  ])('%s is parsed as its root and segments', (text, root, segments) => {
    expect(parsePath(text)).toEqual({ path: { root, segments } })
  })

  it.each([
    ['', /is empty/],
    ['streams.x', /"streams" is not a place/],
    ['nodes.a', /from the node/],
    ['nodes.a.rawdata.x', /no "rawdata"/],
    ['nodes.a.state.x', /no fields/],
    ['nodes..state', /empty step/],
    ['nodes.a.', /empty step/],
    ['nodes.a b.state', /unexpected " "/],
    ['nodes.a.rawData.x[-1]', /bad index/],
    ['nodes.a.rawData.x[01]', /bad index/],
    ['nodes.a.rawData.x[y]', /bad index/],
    ['nodes.a.rawData.x[]', /bad index/],
    ['nodes["a.rawData', /never closed/],
    ['streamdata', /needs a name/],
    ['vault.a.b', /one secret/],
    ['task.NAME', /"task" has no "NAME"/],
    ['node.TASK_ID', /"node" has no/],
    ['streamdata.__proto__', /reserved name "__proto__"/],
    ['nodes.constructor.state', /reserved name/],
    ['nodes.a.rawData["prototype"]', /reserved name/],
    [`loop${'.a'.repeat(40)}`, /more than 32 steps/],
  ])('%s is rejected', (text, message) => {
    const result = parsePath(text)
    expect('fault' in result ? result.fault.message : result).toMatch(message)
  })

  it('suggests the probable part of a node', () => {
    const result = parsePath('nodes.a.stat')
    expect(result).toMatchObject({ fault: { suggestion: 'did you mean nodes.a.state?' } })
  })

  it('survives printing and parsing', () => {
    const paths = fc.oneof(
      fc.array(segment, { minLength: 1, maxLength: 8 }).map((segments): Path => ({ root: 'streamdata', segments })),
      fc
        .tuple(segment, fc.array(segment, { maxLength: 8 }))
        .map(([label, rest]): Path => ({ root: 'nodes', segments: [label, 'rawData', ...rest] })),
    )
    fc.assert(
      fc.property(paths, (path) => {
        expect(parsePath(printPath(path))).toEqual({ path })
      }),
    )
  })
})
