/** What works beside the documents: it follows their log, and gives parts of the API that are not documents. */
import type { Caller, Json, Logger, Page } from '#kernel'
import type { TenantCollections, CollectionsByTenant } from './collections.ts'
import type { ActuatorCall, ListQuery, ManagedTasks, OperationApi, OperatedResources } from './contract.ts'
import type { Write } from '#storage'

/** What is given to it. */
export interface DocumentServices {
  readonly collectionsByTenant: CollectionsByTenant
  readonly service: Pick<OperatedResources, 'as' | 'lookup' | 'changes'>
  readonly now: () => number
  readonly newId: () => string
  readonly logger?: Logger
  readonly managedTasks?: ManagedTasks
  readonly actuators?: ActuatorCall
}

/** Tasks that could not be made, for one reason. */
export type LackingTasks = {
  readonly templates: readonly string[]
  readonly error: string
  /** how many lack them */
  readonly resources: number
}

/** Each member is optional: without it the API says so, or shows nothing. */
export interface BackgroundWork {
  start?(closing?: AbortSignal): Promise<void>
  stop?(): Promise<void>
  /** The log has something new of that tenant. It must not wait. */
  written?(tenant: string): void
  /** the log of commands of a resource, newest first */
  commands?(collections: TenantCollections, id: string, query: ListQuery): Promise<Page<Readonly<Record<string, Json>>>>
  operations?(caller: Caller): OperationApi
  /** For the commit of a type that names a new operation: so that the operation can be asked for. Then `planned`. */
  planning?(collections: TenantCollections, caller: Caller, type: string, operation: string): Write
  /** After that commit. It must not wait. */
  planned?(tenant: string): void
  /** id of an operation that is under way for a type, to be shown as its `$bulkOperation` */
  operationOf?(tenant: string, type: string): string | undefined
  /** why resources lack tasks that their type wants: of one resource, or of all of a type */
  lacking?(
    collections: TenantCollections,
    of: { readonly resource: string } | { readonly type: string },
  ): Promise<readonly LackingTasks[]>
  openOperations?(): number
  upkeepWaiting?(): number
}

export type MakeBackgroundWork = (core: DocumentServices) => BackgroundWork
