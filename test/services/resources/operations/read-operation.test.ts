import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { describeOperation, readOperation } from '../../../../src/services/resources/operations/read-operation.ts'

const remove = (more: object = {}) => ({
  entity: 'resource',
  action: 'delete',
  query: { ids: ['a', 'b', 'a'] },
  ...more,
})

function problemsOf(body: unknown): readonly string[] {
  try {
    readOperation(body)
    return []
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION') throw error
    return error.issues.map(({ path, message }) => `${path} <- ${message}`)
  }
}

describe('the body of a bulk operation', () => {
  it('names each thing once, in the order given', () => {
    expect(readOperation(remove())).toEqual({ what: { entity: 'resource', action: 'delete' }, ids: ['a', 'b'] })
  })

  it('says what is deleted too', () => {
    const { what } = readOperation(remove({ actionParameters: { cascade: ['alarms', 'tasks'] } }))
    expect(what).toEqual({ entity: 'resource', action: 'delete', cascade: ['alarms', 'tasks'] })
  })

  it('brings resources to patch or insert', () => {
    const resources = [{ id: 'a', x: 1 }, { id: 'b' }]
    const body = { entity: 'resource', action: 'patchOrInsert', query: { resources } }
    expect(readOperation(body)).toEqual({
      what: { entity: 'resource', action: 'patchOrInsert' },
      ids: ['a', 'b'],
      bodies: resources,
    })
  })

  it.each<[string, unknown, readonly string[]]>([
    [
      'an action of the other entity',
      remove({ entity: 'resourcetype', action: 'patchOrInsert' }),
      ['/action <- invalid action for resourcetype entity: patchOrInsert'],
    ],
    ['no query', remove({ query: undefined }), ['/query <- is required', '/query/ids <- is required']],
    [
      'a cascade of types',
      remove({ entity: 'resourcetype', actionParameters: { cascade: ['tasks'] } }),
      ['/actionParameters/cascade <- there is no cascade here'],
    ],
    [
      'resources without ids',
      { entity: 'resource', action: 'patchOrInsert', query: { resources: [{}, { id: 'a' }, { id: 'a' }] } },
      ['/query/resources/0/id <- there is no id', '/query/resources <- an id is there twice'],
    ],
    [
      'too many ids',
      remove({ query: { ids: Array.from({ length: 10_001 }, (_, i) => `r${i}`) } }),
      ['/query/ids <- 10001 are more than 10000'],
    ],
  ])('is refused for %s', (_what, body, problems) => {
    expect(problemsOf(body)).toEqual(problems)
  })

  it('is refused with reasons or read, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.record({ entity: fc.constant('resource'), action: fc.constant('delete'), query: fc.jsonValue() }),
        ),
        (body) => {
          expect(Array.isArray(problemsOf(body))).toBe(true)
        },
      ),
    )
  })

  it('is described in words', () => {
    expect(describeOperation(readOperation(remove()))).toBe('deleting 2 resources')
    const one = { entity: 'resourcetype', action: 'delete', query: { ids: ['a'] } }
    expect(describeOperation(readOperation(one))).toBe('deleting 1 resource type')
  })
})
