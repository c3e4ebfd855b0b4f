/** Collects messages and firings of a run over a recording, for its HTML report. */
import type { FiredEvent, Message, Rule, Template } from '#core'
import type { PlaybackOptions } from '#library'
import { CoverageCount } from '#services/rules/contract'
import type { Opened } from '../open-playback.ts'
import { PlotPoints } from './plot-points.ts'
import { MAX_FIRINGS, metricsToPlot, resourcesToPlot } from './plotted.ts'
import type { PlainFiring, PlottedResource } from './report.ts'

const MAX_RESOURCES = 50
const MAX_METRICS = 20

interface Recorded {
  readonly coverage: CoverageCount
  readonly metrics: Map<string, PlotPoints>
}

export class RunRecorder {
  readonly from: number
  readonly until: number
  readonly #resource: string | undefined
  readonly #byResource = new Map<string, Recorded>()
  readonly #firings: PlainFiring[] = []
  #fired = 0

  /** `resource`: of the task, which is recorded in any case. */
  constructor({ from, until, recording, resource }: Opened) {
    this.from = from ?? recording?.recording.first ?? 0
    this.until = until
    this.#resource = resource
  }

  get firings(): readonly PlainFiring[] {
    return this.#firings
  }

  get moreFirings(): number {
    return this.#fired - this.#firings.length
  }

  /** Returns the playback with its messages recorded as they are read. */
  recording<T extends PlaybackOptions>(playback: T): T {
    const { messages } = playback
    if (messages === undefined) return playback
    const note = (message: Message): void => this.#note(message)
    return {
      ...playback,
      messages: (async function* () {
        for await (const message of messages) {
          note(message)
          yield message
        }
      })(),
    }
  }

  fired({ time, node, source, why }: FiredEvent): void {
    this.#fired++
    if (this.#firings.length === MAX_FIRINGS) return
    const resource = why?.input.resource ?? this.#resource
    this.#firings.push({ time, node, source, resource, ...(why && { why }) })
  }

  plotted(rule: Rule | Template): { readonly resources: readonly PlottedResource[]; readonly moreResources: number } {
    const fired = new Set(this.#firings.flatMap(({ resource }) => resource ?? []))
    const own = this.#resource === undefined ? undefined : this.#byResource.get(this.#resource)
    const all = own === undefined ? [...this.#byResource.keys()] : [this.#resource ?? '', ...fired]
    const known = [...new Set(all)].filter((resource) => this.#byResource.has(resource))
    const shown = resourcesToPlot(known, fired)
    const resources = shown.map((resource): PlottedResource => {
      const { metrics = new Map<string, PlotPoints>(), coverage } = this.#byResource.get(resource) ?? {}
      const numeric = [...metrics].filter(([, { count }]) => count > 0).map(([name]) => name)
      return {
        resource,
        metrics: metricsToPlot(numeric, rule).map((name) => ({ name, points: metrics.get(name)?.points ?? [] })),
        gaps: coverage?.item.gaps ?? [],
      }
    })
    return { resources, moreResources: known.length - shown.length }
  }

  #note(message: Message): void {
    const { resource, timestamp: time } = message
    if (typeof time !== 'number') return
    const recorded = this.#byResource.get(resource) ?? this.#open(resource)
    if (recorded === undefined) return
    const { coverage, metrics } = recorded
    coverage.note(message, time)
    for (const [name, value] of Object.entries(message)) {
      if (name === 'resource' || name === 'timestamp') continue
      if (typeof value !== 'number' && typeof value !== 'boolean') continue
      let points = metrics.get(name)
      if (points === undefined) {
        if (metrics.size === MAX_METRICS) continue
        points = new PlotPoints(this.from, this.until)
        metrics.set(name, points)
      }
      points.add(time, Number(value))
    }
  }

  #open(resource: string): Recorded | undefined {
    if (this.#byResource.size >= MAX_RESOURCES && resource !== this.#resource) return undefined
    const recorded = { coverage: new CoverageCount(resource, 'messages'), metrics: new Map<string, PlotPoints>() }
    this.#byResource.set(resource, recorded)
    return recorded
  }
}
