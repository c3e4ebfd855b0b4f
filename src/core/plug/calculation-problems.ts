/** Checks the calculation that a plug declares. */
import { at, FORBIDDEN_KEYS, isPlainObject, type Issue, shown } from '#kernel'
import { formulaOf } from '../language/expression/formula.ts'
import { kindOf } from './calculation.ts'
import { problem } from './problem.ts'

const KEYS: readonly string[] = ['rawData', 'states', 'otherwise']
const WHOLE_NUMBER = /^\d+$/

/**
 * Returns the problems of a declared calculation; their paths start with `/calculates`. A calculation that is a
 * function is not checked further: if its result is unusable, the engine calls the plug.
 */
export function calculationProblems(calculates: unknown, states: unknown): Issue[] {
  const path = '/calculates'
  if (calculates === undefined || typeof calculates === 'function') return []
  if (!isPlainObject(calculates)) {
    return [problem(path, `${shown(calculates)} is neither an object nor a function`, 'use { states, otherwise }')]
  }
  const known: readonly unknown[] = Array.isArray(states) ? states : []
  const { rawData = {}, states: formulas = {}, otherwise } = calculates
  const issues = Object.keys(calculates)
    .filter((key) => !KEYS.includes(key))
    .map((key) => problem(at(path, key), `"${key}" is not a field of a calculation`, `use ${KEYS.join(', ')}`))
  if (!known.includes(otherwise)) issues.push(stateProblem(`${path}/otherwise`, otherwise))
  issues.push(...formulaProblems(`${path}/rawData`, rawData, 'number'))
  issues.push(...formulaProblems(`${path}/states`, formulas, 'truth'))
  if (!isPlainObject(formulas)) return issues
  for (const state of Object.keys(formulas)) {
    if (!known.includes(state)) issues.push(stateProblem(at(`${path}/states`, state), state))
    else if (WHOLE_NUMBER.test(state)) {
      issues.push(
        problem(
          at(`${path}/states`, state),
          `the state "${state}" looks like an array index and would come first`,
          'use a name that is not a number',
        ),
      )
    }
  }
  return issues
}

function stateProblem(path: string, state: unknown): Issue {
  return problem(path, `${shown(state)} is not one of the states`, 'use one of `states`')
}

function formulaProblems(path: string, formulas: unknown, wanted: 'number' | 'truth'): Issue[] {
  if (!isPlainObject(formulas)) return [problem(path, `${shown(formulas)} is not an object of formulas`)]
  return Object.entries(formulas).flatMap(([name, written]) => {
    if (FORBIDDEN_KEYS.has(name)) return [problem(at(path, name), `the name "${name}" is not allowed`)]
    const formula = typeof written === 'string' ? formulaOf(written, 'properties') : written
    if (kindOf(formula) === wanted) return []
    const example = wanted === 'number' ? 'value * factor' : 'value > limit'
    return [
      problem(at(path, name), `${shown(written)} is not a formula for a ${wanted}`, `use a form such as ${example}`),
    ]
  })
}
