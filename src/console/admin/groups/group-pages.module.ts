import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { ChannelsModule } from '../../../catalog/channels/index.js';
import { RelayModule } from '../../../relay/index.js';
import { GroupFormPages } from './group-form.pages.js';
import { GroupListPages } from './group-list.pages.js';
import { GroupMembers } from './group-members.js';
import { GroupPage } from './group.page.js';
import { GroupsController } from './groups.controller.js';

@Module({
  imports: [AccessModule, ChannelsModule, RelayModule],
  controllers: [GroupsController],
  providers: [GroupFormPages, GroupListPages, GroupMembers, GroupPage],
})
export class GroupPagesModule {}
