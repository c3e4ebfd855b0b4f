import { expect, it } from 'vitest'
import { problem } from '../../../src/core/plug/problem.ts'

it('has a suggestion only when there is one', () => {
  const base = { path: '/name', message: 'wrong', severity: 'ERROR', type: 'PLUG' }
  expect(problem('/name', 'wrong')).toStrictEqual(base)
  expect(problem('/name', 'wrong', 'right')).toStrictEqual({ ...base, suggestion: 'right' })
})
