/** Lists JavaScript that expressions do not support, with replacements, and describes failed evaluations. */
import { AppError, messageOf } from '#kernel'

const REFUSED: Readonly<Record<string, readonly [message: string, suggestion: string]>> = {
  AssignmentExpression: ['changes data, but an expression can only read', 'compare with == or ==='],
  UpdateExpression: ['changes data, but an expression can only read', 'add 1 with + 1'],
  SequenceExpression: ['consists of several expressions', 'write one'],
  NewExpression: ['creates an instance of a class', 'use Date.parse(text) or Date.now() for times'],
  FunctionExpression: ['is a function', 'write an arrow function such as x => x > 1'],
  ClassExpression: ['is a class', 'write a single expression over data'],
  ThisExpression: ['has no meaning here', 'name a value of the message, or nodes.<label>.state'],
  AwaitExpression: ['waits, but an expression must return at once', 'wait in a plug instead'],
  YieldExpression: ['is only allowed in a generator', 'write a single expression over data'],
  TaggedTemplateExpression: ['calls a function with a template literal', 'write only the template literal'],
  ImportExpression: ['loads code', 'remove it: all available functions are already defined'],
  MetaProperty: ['reads internals of the interpreter', 'name a value of the message'],
  Super: ['has no meaning here', 'name a value of the message'],
  SpreadElement: [
    'spreads a value where that is not possible',
    'spread into a list, an object or the arguments of a call',
  ],
}

const OTHERS = [
  'cannot be used in an expression',
  'use comparisons, arithmetic, ?:, ??, ?., methods and arrow functions',
] as const

export function refusal(type: string): readonly [message: string, suggestion: string] {
  return (Object.hasOwn(REFUSED, type) ? REFUSED[type] : undefined) ?? OTHERS
}

export const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['Math.random', 'random numbers would make runs differ; read them from a sensor such as dice'],
  ['now', 'write now without brackets: it is the time of the engine in ms'],
  ['contains', 'write includes, as in list.includes(x) and text.includes("x")'],
  ['has', 'write includes, as in list.includes(x) and text.includes("x")'],
  ['match', 'regular expressions are not supported; use includes, startsWith, endsWith or split'],
  ['matchAll', 'regular expressions are not supported; use includes, startsWith, endsWith or split'],
  ['test', 'regular expressions are not supported; use includes, startsWith, endsWith or split'],
  ['push', 'an expression cannot change data; write [...list, item]'],
  ['forEach', 'an expression must return a value; use map, filter, some or every'],
])

/** Creates the error of a failed evaluation. `subject`: what was evaluated. */
export function notEvaluated(subject: string, error: unknown): AppError {
  if (error instanceof AppError) return error
  const code = error instanceof RangeError ? 'TOO_LARGE' : 'BINDING'
  const message = `${subject} cannot be evaluated: ${messageOf(error)}; check the data that it reads`
  return new AppError(code, message, { cause: error })
}
