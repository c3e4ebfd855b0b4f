/** The log of a tenant: what all that comes from outside goes through. */
export { type Floor, type LogPruner, type Mark, MARK_ID, MARKS } from './log-pruner.ts'
export {
  EVENTS,
  isInput,
  isKept,
  type KeptMessage,
  LOG,
  type LoggedMessage,
  messageBody,
  messagesOfEntry,
  PARTITION,
  type RoutedMessage,
} from './message-entry.ts'
export { type Followed, type LogEngine, type LogInput, type NewEntry, TenantLog, type UnitPlace } from './tenant-log.ts'
