/** A sensor that runs a script in the sandbox and shows the returned object. */
import {
  compileScript,
  definePlug,
  drawSeed,
  isPlainObject,
  messageOf,
  problemsOfCode,
  readerOf,
  type Sandbox,
  type ScriptResult,
  valuesOf,
  writeLine,
} from '#plug'

export function createScript(sandbox: Sandbox) {
  return definePlug({
    name: 'script',
    version: '1.2.0',
    compatible: '>=1.0.0 <3',
    kind: 'sensor',
    description:
      'Runs a script in a separate interpreter, with limits of steps and memory and without access to the machine. The returned object becomes raw data. Error, not a failure, when it throws, does not return an object or exceeds a limit.',
    category: 'Data',
    parameters: () => undefined,
    states: ['Success', 'Error'],
    input: {
      script: {
        type: 'string',
        mandatory: true,
        format: { type: 'code' },
        description:
          'a function of (options, send), or the body of one; options has streamData, rawData, internalState, task, node and now. options.internalState is kept for the next run: plain JSON of at most 100,000 characters that is saved with the task; null or a delete clears it, and a run with Error does not change it. The script returns an object, or a promise of one, or calls send(error, object); a body may also end with the object. ${path} and $${path} in the code and in quoted texts stand for values, which are never read as code; in a template literal ${...} is JavaScript and may use nodes.<label>.state and the like; regular expressions do not support them. console writes to the log of the task, at most 100 lines a run, and Math.random follows the seed of the task',
        example: '(options) => ({ doubled: options.streamData.temperature * 2 })',
      },
    },
    output: { error: { type: 'string', description: 'reason; only in state Error' } },
    openOutput: true,
    check: ({ script }) => problemsOfCode('script', script, compileScript),
    prepare: ({ script }) => compileScript(script),
    execute(context) {
      const { prepared, streamData, rawData, internalState, task, node, now, log } = context
      const seed = drawSeed(context)
      try {
        const values = valuesOf(prepared.uses, readerOf(context))
        const input = {
          streamData,
          rawData,
          internalState,
          task,
          node,
          requiredProperties: {},
          now,
          seed,
          values,
          strict: true,
        }
        const result = sandbox.runCode(prepared.code, input, (line) => writeLine(log, line))
        return result instanceof Promise ? result.then(answerOf, failed) : answerOf(result)
      } catch (error) {
        return failed(error)
      }
    },
  })
}

function answerOf({ value, memory }: ScriptResult) {
  if (isPlainObject(value)) return { state: 'Success', rawData: value, internalState: memory } as const
  return failed(new Error('the script does not return an object; return one such as { value: 1 }'))
}

function failed(error: unknown) {
  return { state: 'Error', rawData: { error: messageOf(error) } } as const
}
