import { expect, it } from 'vitest'
import { problem } from '../../../src/core/plug/problem.ts'

it('a suggestion is absent rather than undefined', () => {
  const base = { path: '/name', message: 'wrong', severity: 'ERROR', type: 'PLUG' }
  expect(problem('/name', 'wrong')).toStrictEqual(base)
  expect(problem('/name', 'wrong', 'right')).toStrictEqual({ ...base, suggestion: 'right' })
})
