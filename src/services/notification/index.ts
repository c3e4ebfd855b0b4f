/** Everything a host needs to offer notification. */
export { notificationRoutes } from './api.ts'
export { linkPages } from './link-pages.ts'
export { mailSender } from './mail-sender.ts'
export { Notifications } from './service.ts'
export { LinkSigner, tenantOfLink } from './signed-link.ts'
