import { expect, it } from 'vitest'
import { pathOf } from '../../../../src/services/shared/http/client/http.ts'

it('a path has its parts escaped, and none that would lead to another', () => {
  expect(pathOf`/api/resources/${'a/b ?'}/changes`).toBe('/api/resources/a%2Fb%20%3F/changes')
  expect(pathOf`/api/resources/${'...'}`).toBe('/api/resources/...')
  for (const id of ['.', '..']) {
    expect(() => pathOf`/api/resources/${id}/changes`).toThrow(`"${id}" cannot be part of a URL`)
  }
})
