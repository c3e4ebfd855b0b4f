/** A sensor that runs a script in the sandbox, and shows the object that it gives. */
import {
  compileScript,
  definePlug,
  drawSeed,
  isPlainObject,
  messageOf,
  type Plug,
  problemsOfCode,
  readerOf,
  type Sandbox,
  type ScriptResult,
  valuesOf,
  writeLine,
} from '#plug'

/** Raw data made by a script that runs in `sandbox`; the sandbox belongs to the plug, so that it is loaded once. */
export function createScript(sandbox: Sandbox): Plug {
  return definePlug({
    name: 'script',
    version: '1.2.0',
    compatible: '>=1.0.0 <3',
    kind: 'sensor',
    description:
      'Runs a script in an interpreter of its own, with counted steps and memory and without anything of the machine. The object it gives becomes raw data. Gives Error, and no failure, when it throws, gives no object or goes beyond a limit.',
    category: 'Data',
    // the message as a whole
    parameters: () => undefined,
    states: ['Success', 'Error'],
    input: {
      script: {
        type: 'string',
        mandatory: true,
        format: { type: 'code' },
        description:
          'a function of (options, send), or the body of one; options has streamData, rawData, internalState, task, node and now. What stands in options.internalState at the end is there again at the next run, plain JSON of at most 100,000 characters that is saved with the task; null or a delete forgets it, and a run that gives Error changes nothing of it. The script returns an object, or a promise of one, or calls send(error, object); a body may also end with the object. ${path} and $${path} in the code and in quoted texts stand for values, which are never read as code; in a template literal ${...} is that of JavaScript and may name nodes.<label>.state and the like; a regular expression takes none. console writes to the log of the task, at most 100 lines a run, and Math.random follows the seed of the task',
        example: '(options) => ({ doubled: options.streamData.temperature * 2 })',
      },
    },
    output: { error: { type: 'string', description: 'why there is no object; only in state Error' } },
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
  return failed(new Error('the script gives no object; let it return one such as { value: 1 }'))
}

function failed(error: unknown) {
  return { state: 'Error', rawData: { error: messageOf(error) } } as const
}
