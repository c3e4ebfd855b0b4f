/**
 * Defines the questions between partitions of a tenant. The first partition has resources, alarms, functions, models,
 * webscripts and queries; the others have messages and tasks, and ask the first one for everything else.
 */
import type { PlugServices } from '#core'
import { AppError } from '#kernel'
import type { InternalFunctions } from '#services/functions/contract'
import type { InternalResources } from '#services/resources/contract'
import { machineTimers } from '#platform'
import type { Partition } from '#cluster'
import type { BrokerQuestion, FollowedPart, FollowedStream } from '#services/broker/contract'
import type { RulesQuestion } from '#services/rules'
import { plugServices } from '../wiring/plug-services.ts'
import { served, type ServiceRegistry } from '../wiring/service-registry.ts'

export interface HostedPartition extends Partition {
  readonly tenant: string
  /** Rejects with the partition's error: `FENCED` when it has no owner. */
  ask(partition: number, question: PartitionQuestion): Promise<unknown>
  /** Streams live messages of another partition. Throws `FENCED` when that partition has no owner. */
  follow(partition: number, asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart>
  handed(partition: number): void
  ports(own: PlugServices): PlugServices
  readonly first?: FirstServices | undefined
}

export interface FirstServices {
  readonly resources: Pick<InternalResources, 'discover' | 'lookup'>
  readonly functions: Pick<InternalFunctions, 'plugs' | 'call'>
}

export type PartitionQuestion =
  | { readonly of: 'rules'; readonly question: RulesQuestion }
  | { readonly of: 'broker'; readonly question: BrokerQuestion }
  | { readonly of: 'relay' }
  | {
      readonly of: 'plugs'
      readonly port: keyof PlugServices
      readonly method: string
      readonly args: readonly unknown[]
    }
  | {
      readonly of: 'service'
      readonly service: 'resources' | 'functions'
      readonly method: (typeof METHODS)[number]
      readonly args: readonly unknown[]
    }

const METHODS = ['discover', 'lookup', 'plugs', 'call'] as const
const KINDS: ReadonlySet<unknown> = new Set<PartitionQuestion['of']>(['rules', 'broker', 'relay', 'plugs', 'service'])

export function isPartitionQuestion(value: unknown): value is PartitionQuestion {
  return typeof value === 'object' && value !== null && 'of' in value && KINDS.has(value.of)
}

export async function answerAt(registry: ServiceRegistry, tenant: string, asked: PartitionQuestion): Promise<unknown> {
  switch (asked.of) {
    case 'rules':
      return served(registry.rules).answer(asked.question)
    case 'broker':
      return served(registry.broker).answer(asked.question)
    case 'relay':
      return registry.relay?.wake()
    case 'plugs': {
      const port: unknown = plugServices(tenant, registry, machineTimers.later)[asked.port]
      return call(served(port as object | undefined), asked.method, asked.args)
    }
    case 'service': {
      const service = registry[asked.service]
      if (!METHODS.includes(asked.method))
        throw new AppError('INTERNAL', `${asked.method} is not a method of a service`)
      // if this host lacks the service, answer as if nothing was found
      if (service === undefined && asked.method !== 'call') return undefined
      return call(served(service), asked.method, asked.args)
    }
  }
}

function call(service: object, method: string, args: readonly unknown[]): unknown {
  const member: unknown = Reflect.get(service, method)
  if (typeof member !== 'function') throw new AppError('INTERNAL', `${method} is not a method of the service`)
  return Reflect.apply(member, service, args)
}
