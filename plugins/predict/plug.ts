/** A sensor that asks a hosted model, and compares its score with thresholds. */
import { AppError, type DataPort, definePlug, isPlainObject, type ModelPort, type Plug, requireService } from '#plug'
import { FEATURE_INPUT, featuresOf } from './features.ts'

interface Thresholds {
  readonly anomalyBelow?: number | undefined
  readonly anomalyAbove?: number | undefined
  readonly errorBelow?: number | undefined
  readonly errorAbove?: number | undefined
}

/** A sensor whose state is how far the score of a model is from what is normal. */
export function predictPlug(models?: ModelPort, data?: DataPort): Plug {
  return definePlug({
    name: 'predict',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'Asks a hosted model about one instance. Its score is Error beyond errorBelow or errorAbove, else Anomaly beyond anomalyBelow or anomalyAbove, else Normal. It fails when the model cannot be asked, or its answer has no number.',
    category: 'Models',
    parameters: [],
    states: ['Normal', 'Anomaly', 'Error'],
    input: {
      ...FEATURE_INPUT,
      output: {
        type: 'string',
        description:
          'which part of the answer is the score: a number from 0, or a name; not wanted for a single number',
        example: '1',
      },
      anomalyBelow: { type: 'double', description: 'a score below it is an Anomaly', example: 0 },
      anomalyAbove: { type: 'double', description: 'a score above it is an Anomaly', example: 0.8 },
      errorBelow: { type: 'double', description: 'a score below it is an Error', example: -0.5 },
      errorAbove: { type: 'double', description: 'a score above it is an Error', example: 0.95 },
    },
    output: {
      score: { type: 'double', description: 'the number that is compared' },
      prediction: { type: 'any', description: 'the answer of the model' },
      model: { type: 'string', description: 'its name' },
    },
    check: problemsOfThresholds,
    async execute(context) {
      const { model, probabilities, output } = context.properties
      const features = await featuresOf(context, data)
      const prediction = await requireService(models, 'models').predict({ model, features, probabilities })
      const score = scoreOf(prediction, output)
      return { state: stateOf(score, context.properties), rawData: { score, prediction, model } }
    },
  })
}

/** A list of one number is that number, however deep. */
function scoreOf(prediction: unknown, output: string | undefined): number {
  let part: unknown = prediction
  if (output !== undefined) {
    part = Array.isArray(part) ? part[Number(output)] : isPlainObject(part) ? part[output] : part
  }
  while (Array.isArray(part) && part.length === 1) part = part[0]
  if (typeof part === 'number') return part
  const shown = JSON.stringify(prediction).slice(0, 100)
  const hint = output === undefined ? 'name the one that counts with output' : `it has no number at output ${output}`
  throw new AppError('PLUG_FAILED', `the model answered ${shown}; ${hint}`)
}

function stateOf(score: number, limits: Thresholds): 'Normal' | 'Anomaly' | 'Error' {
  const { anomalyBelow = -Infinity, anomalyAbove = Infinity, errorBelow = -Infinity, errorAbove = Infinity } = limits
  if (score < errorBelow || score > errorAbove) return 'Error'
  return score < anomalyBelow || score > anomalyAbove ? 'Anomaly' : 'Normal'
}

/** An Error is further out than an Anomaly. */
function problemsOfThresholds({ anomalyBelow, anomalyAbove, errorBelow, errorAbove }: Thresholds) {
  const problems: { property: string; message: string; suggestion: string }[] = []
  if (errorBelow !== undefined && anomalyBelow !== undefined && errorBelow > anomalyBelow) {
    const message = `errorBelow is ${errorBelow}, and anomalyBelow is ${anomalyBelow}: no score is an Anomaly`
    problems.push({ property: 'errorBelow', message, suggestion: 'exchange them' })
  }
  if (errorAbove !== undefined && anomalyAbove !== undefined && errorAbove < anomalyAbove) {
    const message = `errorAbove is ${errorAbove}, and anomalyAbove is ${anomalyAbove}: no score is an Anomaly`
    problems.push({ property: 'errorAbove', message, suggestion: 'exchange them' })
  }
  return problems
}
