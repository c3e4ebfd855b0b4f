/** A sensor that compares the score of a hosted model with thresholds. */
import { AppError, type DataPort, definePlug, isPlainObject, type ModelPort, requireService } from '#plug'
import { FEATURE_INPUT, featuresOf } from './features.ts'

interface Thresholds {
  readonly anomalyBelow?: number | undefined
  readonly anomalyAbove?: number | undefined
  readonly errorBelow?: number | undefined
  readonly errorAbove?: number | undefined
}

export function predictPlug(models?: ModelPort, data?: DataPort) {
  return definePlug({
    name: 'predict',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'Scores one instance with a hosted model: Error beyond errorBelow or errorAbove, otherwise Anomaly beyond anomalyBelow or anomalyAbove, otherwise Normal. Fails when the model is unavailable, or its result lacks a number.',
    category: 'Models',
    parameters: [],
    states: ['Normal', 'Anomaly', 'Error'],
    input: {
      ...FEATURE_INPUT,
      output: {
        type: 'string',
        description: 'position of the score in the result: an index from 0, or a name; not needed for a single number',
        example: '1',
      },
      anomalyBelow: { type: 'double', description: 'scores below it are an Anomaly', example: 0 },
      anomalyAbove: { type: 'double', description: 'scores above it are an Anomaly', example: 0.8 },
      errorBelow: { type: 'double', description: 'scores below it are an Error', example: -0.5 },
      errorAbove: { type: 'double', description: 'scores above it are an Error', example: 0.95 },
    },
    output: {
      score: { type: 'double', description: 'the compared number' },
      prediction: { type: 'any', description: 'result of the model' },
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

function scoreOf(prediction: unknown, output: string | undefined): number {
  let part: unknown = prediction
  if (output !== undefined) {
    part = Array.isArray(part) ? part[Number(output)] : isPlainObject(part) ? part[output] : part
  }
  while (Array.isArray(part) && part.length === 1) part = part[0]
  if (typeof part === 'number') return part
  const shown = JSON.stringify(prediction).slice(0, 100)
  const hint = output === undefined ? 'select a number with output' : `output ${output} is not a number`
  throw new AppError('PLUG_FAILED', `the model returned ${shown}; ${hint}`)
}

function stateOf(score: number, limits: Thresholds): 'Normal' | 'Anomaly' | 'Error' {
  const { anomalyBelow = -Infinity, anomalyAbove = Infinity, errorBelow = -Infinity, errorAbove = Infinity } = limits
  if (score < errorBelow || score > errorAbove) return 'Error'
  return score < anomalyBelow || score > anomalyAbove ? 'Anomaly' : 'Normal'
}

/** Error thresholds must lie beyond those of Anomaly. */
function problemsOfThresholds({ anomalyBelow, anomalyAbove, errorBelow, errorAbove }: Thresholds) {
  const problems: { property: string; message: string; suggestion: string }[] = []
  if (errorBelow !== undefined && anomalyBelow !== undefined && errorBelow > anomalyBelow) {
    const message = `errorBelow is ${errorBelow}, and anomalyBelow is ${anomalyBelow}, so Anomaly is unreachable`
    problems.push({ property: 'errorBelow', message, suggestion: 'exchange them' })
  }
  if (errorAbove !== undefined && anomalyAbove !== undefined && errorAbove < anomalyAbove) {
    const message = `errorAbove is ${errorAbove}, and anomalyAbove is ${anomalyAbove}, so Anomaly is unreachable`
    problems.push({ property: 'errorAbove', message, suggestion: 'exchange them' })
  }
  return problems
}
