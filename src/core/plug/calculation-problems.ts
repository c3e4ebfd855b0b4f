/** What is wrong with the calculation that a plug declares. */
import { at, FORBIDDEN_KEYS, isPlainObject, type Issue } from '#kernel'
import { formulaOf } from '../language/expression/formula.ts'
import { kindOf } from './calculation.ts'
import { problem, shown } from './problem.ts'

const KEYS: readonly string[] = ['rawData', 'states', 'otherwise']
const WHOLE_NUMBER = /^\d+$/

/** Paths start with `/calculates`. What a function gives is not looked at: an engine that cannot use it calls the plug. */
export function calculationProblems(calculates: unknown, states: unknown): Issue[] {
  const path = '/calculates'
  if (calculates === undefined || typeof calculates === 'function') return []
  if (!isPlainObject(calculates)) {
    return [problem(path, `${shown(calculates)} is neither an object nor a function`, 'write { states, otherwise }')]
  }
  const known: readonly unknown[] = Array.isArray(states) ? states : []
  const { rawData = {}, states: formulas = {}, otherwise } = calculates
  const issues = Object.keys(calculates)
    .filter((key) => !KEYS.includes(key))
    .map((key) => problem(at(path, key), `a calculation has no field "${key}"`, `it has ${KEYS.join(', ')}`))
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
          `the state "${state}" would come first`,
          'choose a name that is no number',
        ),
      )
    }
  }
  return issues
}

function stateProblem(path: string, state: unknown): Issue {
  return problem(path, `${shown(state)} is none of the states`, 'name one of `states`')
}

function formulaProblems(path: string, formulas: unknown, wanted: 'number' | 'truth'): Issue[] {
  if (!isPlainObject(formulas)) return [problem(path, `${shown(formulas)} is not an object of formulas`)]
  return Object.entries(formulas).flatMap(([name, written]) => {
    if (FORBIDDEN_KEYS.has(name)) return [problem(at(path, name), `the name "${name}" is not allowed`)]
    const formula = typeof written === 'string' ? formulaOf(written, 'properties') : written
    if (kindOf(formula) === wanted) return []
    const example = wanted === 'number' ? 'value * factor' : 'value > limit'
    return [problem(at(path, name), `${shown(written)} is no formula that gives a ${wanted}`, `such as ${example}`)]
  })
}
