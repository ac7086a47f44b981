import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SettingsModule } from '../../platform/settings/index.js';
import { Cursors } from './cursors.js';
import { ErrorPages } from './error-pages.js';
import { FormOrigin } from './form-origin.js';
import { FormPostEntity } from './form-post.entity.js';
import { Frames } from './frames.js';
import { OnceForms } from './once-forms.js';
import { PageInterceptor } from './page.interceptor.js';
import { PageWriter } from './page-writer.js';
import { RenderingModule } from './rendering/rendering.module.js';
import { ShellContent } from './shell-content.js';
import { Signatures } from './signatures.js';
import { VisitCookies } from './visit-cookies.js';

const PROVIDED = [Cursors, ErrorPages, FormOrigin, OnceForms, PageInterceptor, PageWriter, ShellContent, VisitCookies];

@Module({
  imports: [TypeOrmModule.forFeature([FormPostEntity]), RenderingModule, SettingsModule],
  providers: [Signatures, Frames, ...PROVIDED],
  exports: [RenderingModule, ...PROVIDED],
})
export class WebModule {}
