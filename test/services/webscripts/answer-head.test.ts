import { expect, it } from 'vitest'
import { headOf } from '../../../src/services/webscripts/answer-head.ts'

it('leaves out what is about the whole host and all its tenants, or about the connection', () => {
  const names = ['Clear-Site-Data', 'Strict-Transport-Security', 'NEL', 'Report-To', 'Alt-Svc', 'Connection', 'X-Own']
  const { headers } = headOf({ status: 200, headers: names.map((name) => [name, '1']) })
  expect(headers).toEqual([['x-own', '1']])
})
