import { expect, it } from 'vitest'
import { pathOf } from '../../../../src/services/shared/http/client/http.ts'

it('a path has its segments escaped, and cannot lead to another path', () => {
  expect(pathOf`/api/resources/${'a/b ?'}/changes`).toBe('/api/resources/a%2Fb%20%3F/changes')
  expect(pathOf`/api/resources/${'...'}`).toBe('/api/resources/...')
  for (const id of ['.', '..']) {
    expect(() => pathOf`/api/resources/${id}/changes`).toThrow(`"${id}" cannot be part of a URL`)
  }
})
